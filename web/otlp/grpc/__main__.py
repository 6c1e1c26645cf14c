"""The process `otlp-grpc`: `python -m web.otlp.grpc`."""

import asyncio
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
import grpc

from shared.foundation.core.config import Settings, load_settings
from shared.foundation.core.errors import ConfigurationError
from shared.foundation.core.logs import configure_logging, get_logger
from shared.foundation.core.metrics.exporter import Exporter
from shared.foundation.core.tracing.exporter import Tracing
from shared.foundation.deployment.runtime import Runtime
from web.otlp.grpc.exports import SERVICES, ExportCalls

log = get_logger(__name__)

# Calls that are worked on at once. As many threads more look up identities meanwhile.
WORKING = 8
# Calls that have begun may end; a process manager waits about as long.
STOP_SECS = 6.0


def make_server(settings: Settings, exports: ExportCalls) -> grpc.aio.Server:
    """Returns a server that does not listen yet."""
    server = grpc.aio.server(
        options=[
            ("grpc.max_receive_message_length", settings.otlp_max_bytes),
            # Messages are unpacked within bounds (`exports.py`).
            ("grpc.per_message_decompression", 0),
            # Another process on the same port is a mistake.
            ("grpc.so_reuseport", 0),
        ]
    )
    for name, kind in SERVICES.items():
        export = grpc.stream_unary_rpc_method_handler(exports.handler(kind))
        handlers = grpc.method_handlers_generic_handler(name, {"Export": export})
        server.add_generic_rpc_handlers((handlers,))
    return server


def credentials_of(settings: Settings) -> grpc.ServerCredentials | None:
    """Returns the certificate and its key, None without; raises `ConfigurationError`."""
    files = (settings.otlp_grpc_tls_key, settings.otlp_grpc_tls_cert)
    names = ("OTLP_GRPC_TLS_KEY", "OTLP_GRPC_TLS_CERT")
    read = []
    for name, file in zip(names, files, strict=True):
        if file is None:
            return None
        try:
            read.append(Path(file).read_bytes())
        except OSError as error:
            raise ConfigurationError(f"{name}: cannot read the file: {error.strerror}") from None
    return grpc.ssl_server_credentials([(read[0], read[1])])


async def serve(settings: Settings, runtime: Runtime) -> None:
    """Serves until SIGTERM or SIGINT, then lets calls end that have begun.

    Raises `ConfigurationError` if the port cannot be used.
    """
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, stop.set)
    loop.set_default_executor(ThreadPoolExecutor(WORKING * 2, "export"))
    server = make_server(settings, ExportCalls(runtime, settings.web_threads, WORKING))
    address = f"{settings.web_bind}:{settings.otlp_grpc_port}"
    credentials = credentials_of(settings)
    try:
        if credentials is None:
            server.add_insecure_port(address)
        else:
            server.add_secure_port(address, credentials)
    except RuntimeError:
        wrong = "is OTLP_GRPC_PORT taken"
        if credentials is not None:
            wrong += ", or do OTLP_GRPC_TLS_CERT and OTLP_GRPC_TLS_KEY not belong together"
        raise ConfigurationError(f"cannot listen on {address}: {wrong}?") from None
    await server.start()
    log.info("otlp_grpc_ready", address=address, tls=credentials is not None)
    await stop.wait()
    await server.stop(STOP_SECS)


@click.command()
def main() -> None:
    """Accept OpenTelemetry over gRPC on OTLP_GRPC_PORT."""
    try:
        settings = load_settings()
        configure_logging(settings, "otlp-grpc")
        if settings.otlp_grpc_port == 0:
            log.info("otlp_grpc_is_off", reason="OTLP_GRPC_PORT is 0")
            return
        Exporter(settings, "otlp-grpc").start("otlp-grpc")
        tracing = Tracing(settings)
        tracing.start("otlp-grpc")
        runtime = Runtime.connect(settings)
        asyncio.run(serve(settings, runtime))
        tracing.stop()
        runtime.close()
    except ConfigurationError as error:
        log.error("otlp_grpc_refused_to_start", reason=str(error))  # noqa: TRY400 it says all
        sys.exit(1)


if __name__ == "__main__":
    main()
