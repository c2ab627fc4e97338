import type { RehearsedStack } from '../containers.ts';
import type { Drill, Fault, Faults } from '../fault.ts';
import { added, remove } from '../ledger.ts';
import { until } from '../until.ts';

/** A log line that says how to get the data back. */
const wayOut = /redis-check-aof|make restore/;

/** Damages the file of the store, lets the store read it, and puts the whole file back. */
async function damage(stack: RehearsedStack, drill: Drill, script: string): Promise<void> {
  const { tasks } = stack.urls;
  const prefix = `rehearsal-${Date.now()}`;
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
  for (const title of [`${prefix} 1`, `${prefix} 2`, `${prefix} 3`])
    await fetch(`${tasks}/tasks`, { method: 'POST', headers, body: JSON.stringify({ title }) });
  const kill = async () => {
    for (const store of await stack.replicas('tasks-store')) await stack.signal(store, 'KILL');
  };
  const since = new Date();
  await stack.inside('tasks-store', 'rm -rf whole && cp -a appendonlydir whole');
  try {
    await stack.inside('tasks-store', script);
    await kill();
    let listed: unknown[] | undefined;
    let said: string | undefined;
    // Docker waits longer each time before it restarts what ended soon after its start, also in another row.
    await until(async () => {
      listed = await added(tasks, prefix).catch(() => undefined);
      said = (await stack.log('tasks-store', since)).find((line) => wayOut.test(line));
      return listed !== undefined || said !== undefined;
    }, 90).catch(() => {});
    drill.notes.push(listed ? `started with ${listed.length} of 3 tasks` : 'did not start');
    if (said) drill.notes.push(`said: ${said.slice(0, 240)}`);
    // The last command may have been cut.
    if (listed && listed.length < 2) drill.broken.push(`it started with ${listed.length} of 3 tasks`);
    if (!listed && !said) drill.broken.push('it neither started nor said what to do');
  } finally {
    await stack.inside('tasks-store', 'rm -rf appendonlydir && mv whole appendonlydir');
    await kill();
    await until(async () => (await added(tasks, prefix).catch(() => [])).length === 3, 90);
  }
  await remove(tasks, await added(tasks, prefix));
}

const damaged = (script: string): Fault => ({
  quiet: true,
  judges: [],
  cause: (stack, drill) => damage(stack, drill, script),
});

/** Damage to the append-only file. */
export const damageFaults: Faults = {
  'file-truncated': damaged('cd appendonlydir && truncate -s -9 "$(ls -S *.incr.aof | head -n 1)"'),
  'file-corrupt': damaged(
    `cd appendonlydir && f=$(ls -S *.incr.aof | head -n 1) && n=$(grep -abo '^\\*[0-9]' "$f" | tail -n 2 | head -n 1 | cut -d : -f 1) &&
     { head -c "$n" "$f"; printf nonsense; tail -c "+$((n + 1))" "$f"; } >new && cat new >"$f" && rm new`,
  ),
  'file-of-another-version': damaged(
    'cd appendonlydir && printf 9999 | dd of="$(ls *.base.rdb)" bs=1 seek=5 conv=notrunc 2>/dev/null',
  ),
};
