"""
OpenStack Swift with its S3 interface, all of it in one process: proxy, accounts, containers and objects.
Takes an empty directory, a user and a secret; the access key is test:<user>. Prints its port once it listens, and ends
when its standard input does.
"""

import eventlet

eventlet.patcher.monkey_patch(all=False, socket=True, select=True, thread=True)

import os
import sys

from paste.deploy import loadapp
from swift.common import utils
from swift.common.ring import RingBuilder

LOOPBACK = "127.0.0.1"

PROXY = """
[pipeline:main]
pipeline = catch_errors gatekeeper listing_formats s3api tempauth slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
swift_dir = {top}
[filter:tempauth]
use = egg:swift#tempauth
user_test_{user} = {secret} .admin
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:slo]
use = egg:swift#slo
"""


class Cache:
    """Stands for memcached, which the proxy insists on."""

    def __init__(self):
        self.kept = {}

    def get(self, key, **_):
        return self.kept.get(key)

    def set(self, key, value, **_):
        self.kept[key] = value

    def delete(self, key, **_):
        self.kept.pop(key, None)

    def incr(self, key, delta=1, **_):
        self.kept[key] = int(self.kept.get(key, 0)) + delta
        return self.kept[key]


class Silence:
    def write(self, *_):
        pass

    def flush(self):
        pass


def serve(socket, app):
    eventlet.wsgi.server(socket, app, Silence())


def listen():
    return eventlet.listen((LOOPBACK, 0))


def save_ring(top, name, port):
    builder = RingBuilder(2, 1, 0)
    place = {"id": 0, "region": 0, "zone": 0, "ip": LOOPBACK, "port": port, "device": "one", "weight": 1}
    builder.add_dev(place)
    builder.rebalance()
    builder.get_ring().save(os.path.join(top, name + ".ring.gz"))


def start_storage(top):
    from swift.account.server import AccountController
    from swift.container.server import ContainerController
    from swift.obj.server import ObjectController

    os.makedirs(os.path.join(top, "devices", "one"))
    sockets = {name: listen() for name in ("account", "container", "object")}
    for name, socket in sockets.items():
        save_ring(top, name, socket.getsockname()[1])
    settings = {
        "devices": os.path.join(top, "devices"),
        "swift_dir": top,
        "mount_check": "false",
        "disable_fallocate": "true",
    }
    controllers = {"account": AccountController, "container": ContainerController, "object": ObjectController}
    for name, controller in controllers.items():
        eventlet.spawn(serve, sockets[name], controller(settings))


def main():
    top, user, secret = sys.argv[1:4]
    utils.HASH_PATH_SUFFIX = b"test"
    utils.HASH_PATH_PREFIX = b""
    start_storage(top)
    conf = os.path.join(top, "proxy.conf")
    with open(conf, "w") as file:
        file.write(PROXY.format(top=top, user=user, secret=secret))
    proxy = loadapp("config:" + conf)
    cache = Cache()

    def with_cache(environ, start_response):
        environ["swift.cache"] = cache
        return proxy(environ, start_response)

    front = listen()
    eventlet.spawn(serve, front, with_cache)
    print(front.getsockname()[1], flush=True)
    while True:
        eventlet.hubs.trampoline(sys.stdin.fileno(), read=True)
        if not os.read(sys.stdin.fileno(), 1024):
            os._exit(0)


main()
