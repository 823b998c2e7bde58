"""The outermost middleware: the request's id, and problems where something below answers an API call in HTML."""

import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from apps.core import metrics
from apps.core.api.problems import CONTENT_TYPE, plain_body
from apps.core.api.requests import choose_id, current_id


class RequestMiddleware:
    """Gives every request an id, every error under ``/api/`` the form of a problem, and counts.

    The id stays with the thread until its next request, because Django logs a failed request after this.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        metrics.begin()
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request_id = choose_id(request.headers.get("X-Request-Id"))
        current_id.set(request_id)
        began = time.perf_counter()
        response = self._get_response(request)
        if response.status_code >= 400 and is_api(request) and isinstance(response, HttpResponse):
            _speak_problem(response)
        response["X-Request-Id"] = request_id
        metrics.observe(request, response, time.perf_counter() - began)
        return response


def is_api(request: HttpRequest) -> bool:
    """Whether the address is the API's, where no answer is ever an HTML page that says something went wrong."""
    return request.path_info == "/api" or request.path_info.startswith("/api/")


def _speak_problem(response: HttpResponse) -> None:
    if response.get("Content-Type") == CONTENT_TYPE:
        return
    response.content = plain_body(response.status_code)
    response["Content-Type"] = CONTENT_TYPE
    response["Content-Length"] = str(len(response.content))
