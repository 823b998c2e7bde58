"""Users, groups and schedules in the admin's own dress."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from django_celery_beat.models import (
    ClockedSchedule,
    CrontabSchedule,
    IntervalSchedule,
    PeriodicTask,
    SolarSchedule,
)
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from apps.core.admin.base import CountedChangeList, ReadOnlyAdmin
from apps.core.admin.pages import BoundedPaginator

for _model in (User, Group, ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule):
    admin.site.unregister(_model)


@admin.register(User)
class UserAdmin(DjangoUserAdmin, ModelAdmin):  # type: ignore[misc, type-arg]  # as the theme asks for
    """Who may log in."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("username", "email", "is_active", "is_staff", "is_superuser", "last_login")
    paginator = BoundedPaginator
    show_full_result_count = False
    search_help_text = "Name or email"

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        return CountedChangeList


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin, ModelAdmin):  # type: ignore[misc]  # as the theme asks for
    """What its members may do; the product's own groups are made by a migration."""


@admin.register(PeriodicTask)
class PeriodicTaskAdmin(ReadOnlyAdmin):
    """What beat asks the workers for, and when it last did."""

    list_display = ("name", "task", "enabled", "last_run_at", "total_run_count")
    list_select_related = ("interval", "crontab", "solar", "clocked")
    search_fields = ("name", "task")
    search_help_text = "Name or task"
    ordering = ("name",)
    sortable_by = ("name", "last_run_at")
