#!/usr/bin/env python3
"""
The examples of docs/agent.md as they are written, and four processes of each client library that share a limit through
one agent: over the file store and over Redis. The agent's slots are what is judged: exactly at the rate, none lost.
"""

import pathlib
import re
import shutil
import subprocess
import sys

from agent import SOURCE, TAKT, agent_place, end, ends, tap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import redis_server  # noqa: E402  pylint: disable=wrong-import-position

PAGE = (SOURCE / 'docs/agent.md').read_text(encoding='utf-8')
PROCESSES, EACH = 4, 25
GAP_US = 10_000  # 100/s
STEADY = 20

# Prints the slot of each of its permits.
LOOPS = {
    'python': '''
import redis, sys
takt = redis.Redis(unix_socket_path=sys.argv[1], decode_responses=True)
for _ in range(int(sys.argv[2])):
    token, fence, slot_us, waited_us = takt.execute_command('ACQUIRE', 'mail')
    print(slot_us)
    takt.execute_command('RELEASE', token)
''',
    'ruby': '''
require 'redis'
takt = Redis.new(path: ARGV[0], read_timeout: 0)
ARGV[1].to_i.times do
  token, _fence, slot_us, _waited_us = takt.call('ACQUIRE', 'mail')
  puts slot_us
  takt.call('RELEASE', token)
end
''',
    'php': '''<?php
$takt = new Redis();
$takt->connect($argv[1]);
$takt->setOption(Redis::OPT_READ_TIMEOUT, -1);
for ($i = 0; $i < (int)$argv[2]; $i++) {
    [$token, $fence, $slot_us, $waited_us] = $takt->rawCommand('ACQUIRE', 'mail');
    echo "$slot_us\\n";
    $takt->rawCommand('RELEASE', $token);
}
''',
    'node': '''
const takt = require('redis').createClient({socket: {path: process.argv[2]}});
takt.connect().then(async () => {
  for (let i = 0; i < Number(process.argv[3]); i++) {
    const [token, fence, slot_us, waited_us] = await takt.sendCommand(['ACQUIRE', 'mail']);
    console.log(slot_us);
    await takt.sendCommand(['RELEASE', token]);
  }
  await takt.quit();
});
''',
    'ioredis': '''
const takt = new (require('ioredis'))(process.argv[2]);
(async () => {
  for (let i = 0; i < Number(process.argv[3]); i++) {
    const [token, fence, slot_us, waited_us] = await takt.call('ACQUIRE', 'mail');
    console.log(slot_us);
    await takt.call('RELEASE', token);
  }
  await takt.quit();
})();
''',
    'shell': '''
i=0
while [ $i -lt "$2" ]; do
    redis-cli -s "$1" --raw acquire mail | sed -n 3p
    i=$((i + 1))
done
''',
}
# How each is run, and how its library shows that it is there.
RUN = {
    'python': (['/usr/bin/python3'], ['/usr/bin/python3', '-c', 'import redis']),
    'ruby': (['ruby'], ['ruby', '-e', "require 'redis'"]),
    'php': (['php'], ['php', '-r', 'new Redis();']),
    'node': (['node'], ['node', '-e', "require('redis')"]),
    'ioredis': (['node'], ['node', '-e', "require('ioredis')"]),
    'shell': (['sh'], ['redis-cli', '--version']),
}
NAMES = {'python': 'python', 'ruby': 'ruby', 'php': 'php', 'js': 'node', 'sh': 'shell'}


def is_there(here, language):
    command = RUN[language][1]
    return shutil.which(command[0]) and subprocess.run(command, env=here.environment, capture_output=True,
                                                       check=False).returncode == 0


def examples():
    """The programs of the page by their language, as they are written."""
    return {NAMES[kind]: text for kind, text in re.findall(r'```(\w+)\n(.*?)```', PAGE, re.DOTALL)
            if kind in NAMES and '/run/takt/agent.sock' in text and 'sending to' in text}


def shows(report, here, language, text):
    if language == 'php':
        text = f'<?php\n{text}'
    here.write(f'example-{language}', text.replace('/run/takt/agent.sock', here.socket))
    done = ends.run([*RUN[language][0], str(here.path / f'example-{language}')], env=here.environment, text=True,
                    capture_output=True, stdin=subprocess.DEVNULL)
    report.check(done.returncode == 0 and done.stdout == 'sending to ann@example.org\nsending to bob@example.org\n',
                 f'{language}: the example of the page runs', done.stdout + done.stderr)


def paces(report, here, language, store):
    here.write(language, LOOPS[language])
    processes = [subprocess.Popen([*RUN[language][0], str(here.path / language), here.socket, str(EACH)], text=True,
                                  env=here.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) for _ in range(PROCESSES)]
    slots, said = [], ''
    for process in processes:
        out, err = process.communicate(timeout=ends.DEADLINE)
        slots += [int(line) for line in out.split()]
        said += err
    slots.sort()
    gaps = [b - a for a, b in zip(slots, slots[1:])]
    near = [gap for gap in gaps if gap < GAP_US]
    report.check(len(slots) == PROCESSES * EACH, f'{language}, {store}: nothing is lost', f'{len(slots)}: {said}')
    report.check(not near, f'{language}, {store}: the rate is kept exactly', near)
    report.check(GAP_US in gaps, f'{language}, {store}: and while they wait it is used', gaps)


def steady(report, here, store):
    """No slot is left out while somebody waits. All slots are in one lookahead, so they do not depend on the load."""
    client = here.client(3)
    client.socket.sendall(b''.join(client.words('ACQUIRE', 'mail:steady', 'TAG', i) for i in range(STEADY)))
    for _ in range(STEADY):
        client.answer()
    slots = [client.push()[4] for _ in range(STEADY)]
    report.check(slots == [slots[0] + i * GAP_US for i in range(STEADY)], f'{store}: no slot is left out', slots)
    client.close()


def all_languages(report, here, store):
    found = examples()
    report.check(sorted(found) == sorted(set(LOOPS) - {'ioredis'}), f'{store}: the page has an example for each',
                 sorted(found))
    for language in LOOPS:
        if not is_there(here, language):
            report.skip(f'{language}, {store}', 'its library is not installed')
            continue
        paces(report, here, language, store)
        if language in found:
            shows(report, here, language, found[language])


def c_programs(report, here):
    """The commands of the page that use the store `agent:`."""
    text = re.search(r'```sh\n(takt run --store agent:.*?)```', PAGE, re.DOTALL)[1]
    for name in ('job', 'send'):
        here.write(name, f'#!/bin/sh\necho {name} "$@"\n')
        (here.path / name).chmod(0o755)
    here.write('list', 'ann\nbob\n')
    (here.path / 'takt.yaml').rename(here.path / 'policy.yaml')  # the page has none
    done = ends.run(['sh', '-ec', text.replace('agent:', f'agent:{here.socket}')], cwd=here.path, text=True,
                    env={**here.environment, 'PATH': f'{pathlib.Path(TAKT).parent}:{here.environment["PATH"]}'},
                    capture_output=True, stdin=subprocess.DEVNULL)
    (here.path / 'policy.yaml').rename(here.path / 'takt.yaml')
    report.check(done.returncode == 0 and sorted(done.stdout.split('\n')) == ['', 'job', 'send ann', 'send bob'],
                 'the commands of the page with the store agent: run', done.stdout + done.stderr)


def refused_shell(report, here):
    """The example for a shell without a permit: a limit that is none, and no agent."""
    text = examples()['shell']
    for what, program in [('a limit that is none', text.replace('/run/takt/agent.sock', here.socket)
                           .replace('acquire mail', 'acquire nowhere')),
                          ('no agent', text.replace('/run/takt/agent.sock', f'{here.path}/none.sock'))]:
        done = ends.run(['sh', '-c', program], env=here.environment, text=True, capture_output=True,
                        stdin=subprocess.DEVNULL)
        report.check(done.returncode != 0 and 'sending' not in done.stdout,
                     f'shell, {what}: nothing is sent without a permit', done.stdout + done.stderr)


def main():
    report = tap.Report()
    with agent_place() as here:
        here.environment.setdefault('NODE_PATH', '/usr/share/nodejs:/usr/lib/nodejs')
        agent = here.agent()
        steady(report, here, 'file')
        all_languages(report, here, 'file')
        c_programs(report, here)
        if is_there(here, 'shell'):
            refused_shell(report, here)
        report.check(end(agent) == 0, 'the agent ends')
        with redis_server.server(here.path) as redis:
            agent = here.agent('--store', redis.url)
            steady(report, here, 'redis')
            all_languages(report, here, 'redis')
            clients = redis.say('client', 'list').splitlines()
            report.check(len(clients) <= 3, 'the server has two connections of the agent at most, and ours', clients)
            end(agent)
    report.end()


main()
