"""What the properties of the rules are tried on."""

from decimal import Decimal

from hypothesis import strategies as st

from apps.rules.dials import DialValues, resolve

DEFAULTS: DialValues = resolve({}, "local")

confidences = st.integers(0, 1_000_000).map(lambda millionths: Decimal(millionths).scaleb(-6))

# Text as clients send it: no lone surrogates (they are refused at the door), and often what is hard.
any_text = st.text(st.characters(exclude_categories=["Cs"]))
awkward_text = st.text(
    st.sampled_from("aB1é\u0301\u0345Σς-_ \t\n.!?…。」+#*%&@=−^´①½ⅣİǅŸ·'\"\u200b\u200d\u202e\u2028"),
    max_size=40,
)
