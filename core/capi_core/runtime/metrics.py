"""Prometheus metrics under controller-runtime's names, so that its dashboards work."""

from prometheus_client import Counter, Gauge, Histogram

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

RECONCILE_TOTAL = Counter(
    "controller_runtime_reconcile", "Reconciles by result.", ["controller", "result"]
)
RECONCILE_ERRORS = Counter(
    "controller_runtime_reconcile_errors", "Reconciles that failed.", ["controller"]
)
TERMINAL_ERRORS = Counter(
    "controller_runtime_terminal_reconcile_errors", "Failures not retried.", ["controller"]
)
RECONCILE_SECONDS = Histogram(
    "controller_runtime_reconcile_time_seconds",
    "Length of a reconcile.",
    ["controller"],
    buckets=_SECONDS,
)
ACTIVE_WORKERS = Gauge("controller_runtime_active_workers", "Reconciles under way.", ["controller"])
MAX_CONCURRENT = Gauge(
    "controller_runtime_max_concurrent_reconciles", "Workers of a controller.", ["controller"]
)
QUEUE_DEPTH = Gauge("workqueue_depth", "Keys that wait.", ["name"])
QUEUE_ADDS = Counter("workqueue_adds", "Keys added.", ["name"])
QUEUE_RETRIES = Counter("workqueue_retries", "Keys added again after an error.", ["name"])
QUEUE_SECONDS = Histogram(
    "workqueue_queue_duration_seconds", "Wait in the queue.", ["name"], buckets=_SECONDS
)
REST_REQUESTS = Counter("rest_client_requests", "Calls to API servers.", ["code", "method", "host"])
LEADER = Gauge("leader_election_master_status", "1 while this process holds the Lease.", ["name"])
REMOTE_UP = Gauge(
    "capi_cluster_cache_connection_up",
    "1 while the workload cluster answers.",
    ["cluster_name", "cluster_namespace"],
)
AUDIT_REPAIRS = Counter(
    "capi_store_audit_repairs", "Objects that the auditor had to correct.", ["resource"]
)
