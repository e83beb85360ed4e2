"""The course for a class on one server of yours, with JupyterHub. TEACHING.md tells the steps.

    cd CLASS_FOLDER              # it holds class.txt, a learner's name a line
    jupyterhub --config COURSE/notebooks/teaching/jupyterhub_config.py

The course folder is only read. What belongs to the class lies in the class folder: the hub's own files and passwords,
homes/NAME with a learner's copy of the lessons, and progress/NAME.jsonl with the record of what a learner solved.
"""

import compileall
import os
import sys
from pathlib import Path

from tornado.web import HTTPError

COURSE = Path(__file__).resolve().parents[2]
CLASS = Path.cwd()
sys.path.insert(0, str(COURSE))

from course_lib.classroom import hub  # noqa: E402
from course_lib.classroom.places import ClassError  # noqa: E402

c = get_config()  # noqa: F821, which JupyterHub puts here

# What a learner may take in all, in bytes: beyond it kernels of the learner end, the largest first. One kernel may
# take 2 GiB of it; beyond that Python raises MemoryError. To change it write hub.KERNEL = ... here.
c.Spawner.mem_limit = 3 << 30

try:
    hub.check_server(CLASS, c.Spawner.mem_limit)
    learners = hub.class_list(CLASS / "class.txt")
except ClassError as error:
    sys.exit(f"This did not work: {error}")

# Only this computer reaches the hub. A web server that speaks TLS stands before it and passes requests on.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"

# The list is the whole class: who is taken out of it is locked out, and who is not in it gets no account.
# The first login sets a learner's password.
c.JupyterHub.authenticator_class = "firstuse"
c.Authenticator.allowed_users = learners
c.Authenticator.allow_existing_users = False
c.FirstUseAuthenticator.create_users = False
c.FirstUseAuthenticator.dbm_path = str(CLASS / "passwords.dbm")

# Learners need no accounts of the system. This spawner alone would run everybody as root, so `prepare` starts each
# server under a number of the learner's own: it can read the course, and nothing of another learner.
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = str(CLASS / "homes" / "{username}")
c.Spawner.default_url = "/lab/tree/notebooks/00_start_here.ipynb"


def prepare(spawner):
    """Give the learner a home and a record, and the command that starts the server as this learner."""
    if spawner.user.name not in learners:  # taken off the list, in a browser that is still logged in
        refused = HTTPError(403)
        refused.jupyterhub_message = f"{spawner.user.name} is not on the class list"
        raise refused
    spawner.cmd = hub.server_command(CLASS, spawner.user.name, spawner.mem_limit)


c.Spawner.pre_spawn_hook = prepare

# The kernels find the course, and what it tells JupyterLab, as with `python3 -m course_lib lab`.
c.Spawner.environment = {
    "PYTHONPATH": str(COURSE),
    "JUPYTER_CONFIG_PATH": str(COURSE),
    "JUPYTER_PATH": str(COURSE / "labconfig"),
    "COURSE_PROGRESS": lambda spawner: str(CLASS / "progress" / f"{spawner.user.name}.jsonl"),
    **hub.THRIFT,
}

# Memory comes back from who is away: kernels after an hour without a run, open in a browser or not, and a server
# two hours after its last kernel.
c.Spawner.args = [
    "--MappingKernelManager.cull_idle_timeout=3600",
    "--MappingKernelManager.cull_connected=True",
    "--ServerApp.shutdown_no_activity_timeout=7200",
]

# A class arrives all at once, and a small server needs its time.
c.JupyterHub.concurrent_spawn_limit = 10
c.Spawner.start_timeout = c.Spawner.http_timeout = 120

# Learners cannot write into the course folder: compiled here once, or else by every kernel anew.
compileall.compile_dir(COURSE / "course_lib", quiet=2)

# What the hub writes from here on, such as its database, nobody else may read.
os.umask(0o077)
