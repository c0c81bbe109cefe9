#!/usr/bin/env python3
"""
Includes point one way: each folder may include the folders named here and no others, each library of others has
one home, and the pure folders read no clock. That the check would notice is shown on copies with one line added.

Usage: test_includes.py [TREE]; without one, $TAKT_SOURCE or the checkout this file is in.
"""

import os
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import tap  # noqa: E402

# Folder of lib/ -> the other folders of lib/ whose headers it may include; a room has a row where it may do more.
LIBRARY = {
    'base': [],
    'zone': ['base'],
    'rules': ['zone', 'base'],
    'core': ['rules', 'base'],
    'policy': ['core', 'rules', 'zone', 'base'],
    'crypto': ['base'],
    'redis': ['crypto', 'base'],
    'store': ['crypto', 'core', 'base'],
    'store/redis': ['redis', 'core', 'zone', 'base'],
    'store/agent': ['redis', 'core', 'base'],
    'scheduler': ['core', 'rules', 'base'],
    'shadow': ['scheduler', 'core', 'base'],
    'client': ['shadow', 'scheduler', 'store', 'policy', 'crypto', 'core', 'rules', 'base'],
    'relay': ['client', 'scheduler', 'store', 'redis', 'policy', 'core', 'base'],
}

# Library beside lib/ -> the folders of lib/ whose headers it may include.
BESIDE = {
    'doctor': ['store', 'redis', 'core', 'base'],
    'simulate': ['shadow', 'scheduler', 'store', 'policy', 'core', 'rules', 'base'],
}

# Folders of programs -> whether they may look inside lib/.
PROGRAMS = {'cli': False, 'examples': False, 'workers': False, 'agent': False, 'bench': True}

# Room of workers/jobs/ -> the other rooms there whose headers it may include.
JOBS = {
    'frame': ['stream', 'sources', 'report', 'text'],
    'stream': ['sources', 'text'],
    'sources': ['text'],
    'report': ['text'],
    'text': [],
}

# Room of cli/ -> the other rooms there whose headers it may include. Commands in cli/ itself may include any room.
COMMANDS = {
    'common': [],
    'exporter': ['top', 'common'],
    'map': ['common'],
    'simulate': ['common'],
    'top': ['common'],
}

# What programs share: the folders of lib/ that it may include, and the programs that may include it.
KIT = ['base']
WITH_KIT = ['cli', 'workers', 'agent']

# Folders of workers/ that look into lib/, and where.
LOOK_INSIDE = {'jobs/stream': ['redis'], 'jobs_tool': ['redis']}

# Folders of lib/ whose headers the agent may include: it reads commands as lib/redis reads replies.
AGENT = ['redis', 'base']

# Folders of workers/ that the others there may include, and those that a bench may measure.
WORKERS = ['jobs', 'transfer']
MEASURED = ['call', 'jobs', 'mail', 'transfer']

# Headers of others -> the folders they may be included in. A program brings its own libuv loop.
HOMES = {
    r'(cyaml/|yaml\.h$)': ['lib/policy'],
    r'lmdb\.h$': ['lib/store'],
    r'hiredis': ['lib/redis', 'bench'],
    r'openssl/': ['lib/crypto', 'lib/redis'],
    r'jansson\.h$': ['workers'],
    r'curl/': ['workers/transfer', 'workers/mail', 'workers/call'],
    r'uv(\.h$|/)': ['lib/client', 'lib/relay', 'lib/crypto', 'lib/redis', 'lib/store', 'doctor', 'kit', *PROGRAMS],
}

PURE = ['lib/base', 'lib/rules', 'lib/core', 'lib/scheduler', 'lib/shadow', 'simulate']
CLOCK = re.compile(r'(?<![\w.>])(clock_gettime|clock_nanosleep|clock|gettimeofday|timespec_get|ftime|time|nanosleep|'
                   r'usleep|sleep|uv_hrtime|uv_now|uv_update_time|uv_gettimeofday|uv_clock_gettime)\s*\(')
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def without_comments(text):
    """The code alone, line for line, so that a word in a comment or a message is not taken for a call."""
    return NOT_CODE.sub(lambda found: '\n' * found.group().count('\n'), text)


def is_in(folder, homes):
    return any(folder == home or folder.startswith(home + '/') for home in homes)


def quoted_is_allowed(tree, file, name):
    """Whether `file` may say #include "name"."""
    top, *rest = file.relative_to(tree).parts
    if top == 'include':
        return False
    if top == 'lib':
        own, first = rest[0], name.split('/')[0]
        if '..' in name.split('/'):
            return False
        room = LIBRARY.get('/'.join(rest[:-1]), LIBRARY.get(own, []))
        return '/' not in name or first == own or first in room
    if top in BESIDE:
        if name.split('/')[0] == top:  # a room in it may include the folder, which does not know its rooms
            return (tree / name).exists() and file.parent.is_relative_to((tree / name).parent)
        return '..' not in name.split('/') and name.split('/')[0] in BESIDE[top]
    if top == 'workers' and '..' in name.split('/'):
        return False
    if name.split('/')[0] == 'kit':
        return top in ['kit', *WITH_KIT] and (tree / name).exists()
    if top == 'kit':
        return name.split('/')[0] in KIT and (tree / 'lib' / name).exists()
    if top == 'workers' and '/' in name and (tree / top / name).exists():
        if rest[0] == 'jobs' and name.startswith('jobs/'):
            return name.split('/')[1] in JOBS.get(rest[1], [])
        return name.split('/')[0] in WORKERS
    if top == 'cli' and '/' in name:
        room = name.split('/')[0]
        return (tree / top / name).exists() and room in (COMMANDS if len(rest) == 1 else COMMANDS[rest[0]])
    if top == 'cli' and name == 'commands.h':
        return rest[0] != 'common'
    if top == 'agent' and name.split('/')[0] in AGENT:
        return (tree / 'lib' / name).exists()
    if top == 'workers' and name.split('/')[0] in LOOK_INSIDE.get('/'.join(rest[:-1]), []):
        return (tree / 'lib' / name).exists()
    if (file.parent / name).resolve().is_relative_to((tree / top).resolve()) and (file.parent / name).exists():
        return True
    if top == 'bench' and name.split('/')[0] in MEASURED:
        return (tree / 'workers' / name).exists()
    return PROGRAMS[top] and name.split('/')[0] in LIBRARY


def faults_of(tree, file):
    folder = file.relative_to(tree).parent.as_posix()
    text = file.read_text(encoding='utf-8')
    for number, line in enumerate(text.splitlines(), 1):
        include = INCLUDE.match(line)
        if not include:
            continue
        quote, name = include.groups()
        where = f'{file.relative_to(tree)}:{number}: '
        if quote == '"' and not quoted_is_allowed(tree, file, name):
            yield f'{where}{folder} must not include "{name}"'
        for header, homes in HOMES.items():
            if re.match(header, name) and not is_in(folder, homes):
                yield f'{where}<{name}> belongs in {", ".join(homes)} alone'
    if is_in(folder, PURE):
        for number, line in enumerate(without_comments(text).splitlines(), 1):
            for call in CLOCK.finditer(line):
                yield f'{file.relative_to(tree)}:{number}: {folder} reads no clock, but calls {call.group(1)}'


def faults_in(tree):
    """All that is against the direction, and how many files were looked at."""
    files = [file for top in ['include', 'lib', 'kit', *BESIDE, *PROGRAMS] for file in sorted((tree / top).rglob('*.[ch]'))]
    strangers = [f'lib/{folder.name}: a folder that the table of this test does not know'
                 for folder in sorted((tree / 'lib').iterdir())
                 if folder.is_dir() and folder.name not in LIBRARY and any(folder.rglob('*.[ch]'))]
    return strangers + [fault for file in files for fault in faults_of(tree, file)], len(files)


# A file, the line added to it, and whether that is a fault.
TAMPERED = [
    ('lib/core/tampered.c', '#include "store/store.h"', True),
    ('lib/core/tampered.c', '#include "scheduler/scheduler.h"', True),
    ('lib/core/tampered.c', '#include "../client/client.h"', True),
    ('lib/core/tampered.c', '#include "base/list.h"', False),
    ('lib/core/tampered.c', '#include "rules/rule.h"', False),
    ('lib/rules/tampered.c', '#include "core/numbers.h"', True),
    ('lib/base/tampered.h', '#include "rules/rule.h"', True),
    ('lib/scheduler/tampered.c', '#include "policy/policy.h"', True),
    ('lib/store/tampered.c', '#include "policy/policy.h"', True),
    ('lib/store/tampered.c', '#include "client/client.h"', True),
    ('lib/store/tampered.c', '#include <lmdb.h>', False),
    ('lib/policy/tampered.c', '#include "store/store.h"', True),
    ('lib/policy/tampered.c', '#  include <cyaml/cyaml.h>', False),
    ('simulate/tampered.c', '#include "store/record.h"', False),
    ('simulate/tampered.c', '#include "redis/client.h"', True),
    ('simulate/tampered.c', '#include "client/client.h"', True),
    ('simulate/tampered.c', '#include "simulate/draw/chart.h"', True),
    ('simulate/tampered.c', '#include "scheduler/scheduler.h"', False),
    ('simulate/tampered.c', '#include "simulate/fleet.h"', False),
    ('simulate/tampered.c', '#include <uv.h>', True),
    ('simulate/tampered.c', 'long f(void) { return time(0); }', True),
    ('doctor/tampered.c', '#include "store/redis/key.h"', False),
    ('doctor/tampered.c', '#include "client/client.h"', True),
    ('lib/store/tampered.c', '#include "doctor/checkup.h"', True),
    ('simulate/draw/tampered.c', '#include "simulate/simulation.h"', False),
    ('lib/client/tampered.c', '#include "store/store.h"', False),
    ('lib/client/tampered.c', '#include <lmdb.h>', True),
    ('lib/client/tampered.c', '#include <cyaml/cyaml.h>', True),
    ('lib/store/tampered.c', '#include <hiredis/hiredis.h>', True),
    ('lib/store/redis/tampered.c', '#include <hiredis/hiredis.h>', True),
    ('lib/redis/tampered.c', '#include <hiredis/hiredis.h>', False),
    ('lib/redis/tampered.c', '#include "store/store.h"', True),
    ('lib/redis/tampered.c', '#include "rules/rule.h"', True),
    ('lib/store/redis/tampered.c', '#include "redis/connection.h"', False),
    ('lib/store/tampered.c', '#include "redis/connection.h"', True),
    ('lib/scheduler/tampered.c', '#include <uv.h>', True),
    ('lib/core/tampered.c', 'long f(void) { return time(0); }', True),
    ('lib/scheduler/tampered.c', 'int f(void *t) { return clock_gettime(1, t); }', True),
    ('lib/core/tampered.c', '/* the time (in us) */ long take_time(void);', False),
    ('lib/colour/tampered.c', '#include "base/list.h"', True),
    ('cli/tampered.c', '#include "rules/rule.h"', True),
    ('cli/tampered.c', '#include "base/list.h"', True),
    ('cli/tampered.c', '#include "kit/child.h"', False),
    ('workers/print/tampered.c', '#include "kit/child.h"', False),
    ('examples/tampered.c', '#include "kit/child.h"', True),
    ('lib/base/tampered.c', '#include "kit/child.h"', True),
    ('kit/tampered.c', '#include "kit/child.h"', False),
    ('kit/tampered.c', '#include "base/list.h"', False),
    ('kit/tampered.c', '#include "rules/rule.h"', True),
    ('kit/tampered.c', '#include "../cli/common/session.h"', True),
    ('kit/tampered.c', '#include "jobs/frame/outage.h"', True),
    ('cli/tampered.c', '#include "top/top.h"', False),
    ('cli/top/tampered.c', '#include "map/jobs.h"', True),
    ('cli/top/tampered.c', '#include "common/session.h"', False),
    ('cli/common/tampered.c', '#include "top/top.h"', True),
    ('cli/common/tampered.c', '#include "commands.h"', True),
    ('cli/tampered.c', '#include "../lib/rules/rule.h"', True),
    ('cli/tampered.c', '#include <yaml.h>', True),
    ('cli/tampered.c', '#include <takt/takt.h>', False),
    ('workers/print/tampered.c', '#include "jobs/frame/outage.h"', False),
    ('workers/print/tampered.c', '#include "rules/rule.h"', True),
    ('workers/print/tampered.c', '#include "redis/client.h"', True),
    ('workers/jobs/stream/tampered.c', '#include "redis/client.h"', False),
    ('workers/jobs/stream/tampered.c', '#include "store/store.h"', True),
    ('workers/print/tampered.c', '#include "../../lib/rules/rule.h"', True),
    ('workers/jobs/frame/tampered.c', '#include <curl/curl.h>', True),
    ('workers/jobs/frame/tampered.c', '#include "jobs/sources/source.h"', False),
    ('workers/jobs/stream/tampered.c', '#include "jobs/frame/job_parse.h"', True),
    ('workers/jobs/sources/tampered.c', '#include "../stream/stream.h"', True),
    ('workers/jobs/report/tampered.c', '#include "jobs/sources/source.h"', True),
    ('workers/jobs/text/tampered.c', '#include "jobs/report/report.h"', True),
    ('workers/jobs/tampered.c', '#include "jobs/text/buffer.h"', True),
    ('cli/tampered.c', '#include <jansson.h>', True),
    ('examples/tampered.c', '#include "rules/rule.h"', True),
    ('bench/tampered.c', '#include "rules/rule.h"', False),
    ('include/takt/tampered.h', '#include "rules/rule.h"', True),
    ('include/takt/tampered.h', '#include <uv.h>', True),
]


def notices(copy, name, line):
    """Whether the check complains of `line` in the otherwise clean copy."""
    file = copy / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(line + '\n', encoding='utf-8')
    faults, _ = faults_in(copy)
    file.unlink()
    return any('tampered' in fault or name.split('/')[1] in fault for fault in faults)


def main():
    here = pathlib.Path(__file__).resolve().parents[2]
    tree = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get('TAKT_SOURCE', here)).resolve()
    report = tap.Report()
    faults, looked_at = faults_in(tree)
    report.check(looked_at > 0, f'there are sources under {tree.name}')
    report.check(not faults, f'includes point one way in {looked_at} files', '\n'.join(faults))
    with tempfile.TemporaryDirectory() as scratch:
        copy = pathlib.Path(scratch)
        for top in ['include', 'lib', 'kit', *BESIDE, *PROGRAMS]:
            if (tree / top).is_dir():
                shutil.copytree(tree / top, copy / top, ignore=lambda _, names: {
                    n for n in names if n.endswith('.c')})
        for name, line, is_fault in TAMPERED:
            report.check(notices(copy, name, line) == is_fault,
                         f'{line} in {name} is {"a fault" if is_fault else "allowed"}')
    report.end()


if __name__ == '__main__':
    main()
