"""What is compared: how each tool's driver is called, which workloads it has, and its version."""

import json
import re
import shutil
import subprocess

COMPILING = {'in_step': 1.2, 'in_step_each': 0.08}  # Node compiles what it runs often, and gets quicker by that
NODE_PEERS = {
    'bottleneck': ('bottleneck', COMPILING, {'ceiling', 'pacing', 'permits', 'waiting', 'latency', 'memory'}),
    'rate-limiter-flexible': ('flexible', COMPILING, {'ceiling', 'pacing', 'waiting', 'latency', 'memory'}),
    # its workers begin 0.3 s before what counts, or they would have no jobs left
    'bullmq': ('bullmq', {'in_step': 0.5}, {'ceiling', 'pacing', 'permits', 'waiting', 'latency'}),
}
PYTHON = '/usr/bin/python3'


class Tool:
    """command(plan) is the words that run one process of it, in_step the seconds from the beginning until its processes
    do what they go on doing, and in_step_each those that each process adds."""

    def __init__(self, name, version, workloads, command, in_step=1.0, in_step_each=0.0):
        self.name, self.version, self.workloads, self.command = name, version, workloads, command
        self.in_step, self.in_step_each = in_step, in_step_each


def output(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def words_of(plan):
    known = ('workload', 'socket', 'out', 'rate', 'rules', 'outstanding', 'permits', 'job_ms', 'count', 'keys', 'together',
             'end_us')
    return [f'{name}={plan[name]}' for name in known if plan.get(name) is not None]


def find(build, peers):
    """The tools that are here, and the names of those that are not."""
    found, missing = [], []
    version = output(build / 'cli' / 'takt', '--version')
    found.append(Tool('takt', version and version.split()[-1],
                      {'ceiling', 'pacing', 'permits', 'waiting', 'latency', 'memory', 'in-process', 'growth'},
                      lambda plan: [build / 'bench' / 'side-takt', *words_of(plan)]))
    found.append(Tool('minimal script', '', {'ceiling', 'pacing', 'waiting', 'latency', 'memory'},
                      lambda plan: [build / 'bench' / 'side-script', *words_of(plan)]))
    for name, (driver, in_step, workloads) in NODE_PEERS.items():
        package = peers / 'node_modules' / name / 'package.json'
        if shutil.which('node') and package.exists():
            found.append(Tool(name, json.loads(package.read_text())['version'], workloads,
                              lambda plan, driver=driver: ['node', peers / f'{driver}.js', json.dumps(plan, default=str)],
                              **in_step))
        else:
            missing.append(name)
    version = output(PYTHON, '-c', 'import limits, redis; print(limits.__version__)')
    if version:
        found.append(Tool('python3-limits', version, {'ceiling', 'pacing', 'latency', 'memory'},
                          lambda plan: [PYTHON, peers / 'window.py', json.dumps(plan, default=str)]))
    else:
        missing.append('python3-limits')
    return found, missing


def sleeper(build):
    """What runs beside those that are paced, to tell how even anything can be here."""
    return Tool('sleeper', '', set(), lambda plan: [build / 'bench' / 'side-beat', *words_of(plan)])


def rate_of_go(peers):
    """The program with x/time/rate and its version, None where there is none."""
    program = peers / 'rate'
    version = output('dpkg-query', '-W', '-f', '${Version}', 'golang-golang-x-time-dev')
    return (program, version or '') if program.exists() else None


def benchmark_version():
    text = output('redis-benchmark', '--version')
    return re.sub(r'^redis-benchmark\s*', '', text) if text else None
