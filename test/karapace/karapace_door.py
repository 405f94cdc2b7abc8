"""A plugin of pytest for tests of Karapace that speak to another registry.

It starts the command that MOLDAU_BINARY names, anew for each test, which Karapace's fixtures do with Karapace. It stands in
for two modules that only an installed Karapace has, and for the question whether a master was elected, which is no part of
the protocol.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import types
import urllib.request

import pytest


def _not_installed(*_args, **_kwargs):
    raise NotImplementedError("the library protopace is not installed")


def _stand_in():
    version = types.ModuleType("karapace.version")
    version.__version__ = version.version = "0"
    version.version_tuple = (0,)
    sys.modules["karapace.version"] = version

    # The library that formats Protobuf on Karapace's side, written in Go; no test of the protocol calls it.
    for name in ("karapace.core.protobuf.protopace", "karapace.core.protobuf.protopace.protopace"):
        library = types.ModuleType(name)
        library.Proto = type("Proto", (), {})
        library.IncompatibleError = type("IncompatibleError", (Exception,), {})
        library.check_compatibility = library.format_proto = _not_installed
        sys.modules[name] = library


# Not in a hook: conftest.py is imported before the first one.
_stand_in()


async def _master_is_available(_client):
    return None


def pytest_collection_modifyitems(items):
    for name, module in list(sys.modules.items()):
        if name.startswith("tests.") and hasattr(module, "repeat_until_master_is_available"):
            module.repeat_until_master_is_available = _master_is_available


class Server:
    """A process of Moldau with nothing in it. It keeps its addresses when it is started anew."""

    def __init__(self, binary):
        self._binary, self._process, self._directory = binary, None, None
        self._kafka = self._registry = "127.0.0.1:0"
        self.start()

    def start(self):
        self.stop()
        self._directory = tempfile.TemporaryDirectory(prefix="moldau-karapace-")
        addresses = os.path.join(self._directory.name, "addresses.json")
        settings = {
            "listeners": "PLAINTEXT://" + self._kafka,
            "registry.listen": self._registry,
            "http.listen": "off",
            "grpc.listen": "off",
            "log.level": "error",
        }
        command = [self._binary, "serve", "--data-dir", os.path.join(self._directory.name, "data"), "--addresses-file", addresses]
        for name, value in settings.items():
            command += ["--set", f"{name}={value}"]
        self._process = subprocess.Popen(command)
        deadline = time.monotonic() + 30
        while not os.path.exists(addresses):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("moldau did not start")
            time.sleep(0.02)
        with open(addresses) as f:
            doors = json.load(f)
        self._kafka, self._registry = doors["kafka"], doors["registry"]
        self._make_topic()

    def _make_topic(self):
        """Writes something that leaves nothing behind, for tests that write to the registry's topic before it does."""
        for method, body in (("PUT", b'{"compatibility":"BACKWARD"}'), ("DELETE", None)):
            request = urllib.request.Request(
                f"http://{self._registry}/config", body, {"Content-Type": "application/json"}, method=method
            )
            urllib.request.urlopen(request, timeout=30).close()

    def stop(self):
        if self._process:
            self._process.kill()
            self._process.wait()
            self._directory.cleanup()
        self._process = None

    @property
    def options(self):
        return {"registry_url": "http://" + self._registry, "kafka_bootstrap_servers": [self._kafka]}


class Door:
    """Gives each test a new server."""

    def __init__(self, config):
        self._server = Server(os.environ["MOLDAU_BINARY"])
        self._used = False
        for name, value in self._server.options.items():
            setattr(config.option, name, value)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self):
        if self._used:
            self._server.start()
        self._used = True

    def pytest_unconfigure(self):
        self._server.stop()


def pytest_configure(config):
    config.pluginmanager.register(Door(config))
