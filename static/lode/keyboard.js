/* The theme hangs clicks on plain elements: a keyboard could not reach them. Each becomes a button here. */

(function () {
  "use strict";

  const NAMES = { dock_to_right: "Menu", unfold_more: "Account and theme", close: "Close" };
  const NATIVE = "a[href], button, input, select, textarea, summary, #changelist-filter-close";

  function makeButton(element) {
    if (element.matches(NATIVE) || element.hasAttribute("tabindex")) {
      return;
    }
    element.setAttribute("tabindex", "0");
    element.setAttribute("role", "button");
    const name = NAMES[element.textContent.trim()];
    if (name) {
      element.setAttribute("aria-label", name);
    }
  }

  function makeButtons(root) {
    root.querySelectorAll("[x-on\\:click]").forEach(makeButton);
    root.querySelectorAll(".material-symbols-outlined:not([x-on\\:click])").forEach(function (icon) {
      icon.setAttribute("aria-hidden", "true"); // else its name is read out, "chevron_right" and all
    });
  }

  function press(event) {
    const isButton = event.target.matches("[role=button][x-on\\:click]");
    if (isButton && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      event.target.click();
    }
  }

  /* The sheet of filters stands at the end of the page: who opens it wants to be in it. */
  function enterFilters(event) {
    const opener = event.target.closest("[x-on\\:click='filterOpen = true']");
    if (opener) {
      setTimeout(function () {
        const first = document.querySelector("#changelist-filter :is(.select2-selection, input:not([type=hidden]))");
        if (first) {
          first.focus();
        }
      }, 50); // once it is shown
    }
  }

  document.addEventListener("DOMContentLoaded", function () {
    makeButtons(document);
    document.addEventListener("keydown", press);
    document.addEventListener("click", enterFilters);
    document.addEventListener("htmx:afterSwap", function (event) {
      makeButtons(event.target);
    });
  });
})();
