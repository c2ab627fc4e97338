// Ticks wait on this device until the server confirms them. A finished or open state can be sent any number of times.
import { enqueue, refresh } from './change.js';
import { rowsIn, textOf } from './dom.js';
import { dropTick, keepTick, type Tick, ticks } from './kept.js';
import { complain, say } from './notice.js';
import { hasConnection, tellConnection } from './offline.js';
import { type Failure, putState } from './request.js';

/** Milliseconds after which a tick without an answer is sent again: its page may be gone. */
const patience = 20_000;

const idOf = (row: HTMLElement) => row.id.replace('task-', '');

/**
 * Keeps a tick of this row while its request is under way.
 *
 * @returns `confirmed`, and `failed`, which returns whether the tick waits for a connection
 */
export function tick(row: HTMLElement, finished: 0 | 1) {
  const id = idOf(row);
  const own: Tick = { title: textOf(row).title ?? '', finished, at: Date.now() };
  const isKept = keepTick(id, own);
  return {
    confirmed() {
      dropTick(id, own);
      showTicks();
    },
    failed({ kind }: Failure): boolean {
      const isUnsent = kind === 'logged out' || (kind === 'no answer' && !hasConnection());
      const mayWait = isKept && isUnsent;
      if (!mayWait) dropTick(id, own);
      else if (ticks()[id]?.at === own.at) keepTick(id, { ...own, waits: true });
      showTicks();
      return mayWait;
    },
  };
}

/** Shows the wanted state of each waiting row, and counts what waits. */
function showTicks() {
  const waiting = ticks();
  for (const row of rowsIn(document)) {
    const wanted = waiting[idOf(row)];
    if (wanted?.waits) {
      row.dataset.pending = wanted.finished ? 'finished' : 'open';
      row.dataset.waits = '';
    } else if (row.dataset.waits !== undefined) {
      delete row.dataset.pending;
      delete row.dataset.waits;
    }
  }
  tellConnection();
}

const isDue = ({ waits, at }: Tick) => waits || Date.now() - at > patience;

/** Sends the waiting ticks. Only one page of this device does so at a time. */
async function sendTicks() {
  if (!Object.values(ticks()).some(isDue)) return;
  await navigator.locks.request('ticks', async () => {
    let answered = 0;
    let sent = 0;
    for (const [id, due] of Object.entries(ticks()).filter(([, each]) => isDue(each))) {
      const answer = await putState(id, due.finished);
      // Everything that waits needs a connection, or a login.
      if (answer === 'later') break;
      answered += 1;
      dropTick(id, due);
      if (answer === 'saved') sent += 1;
      else complain(`\u2068${due.title}\u2069: ${answer.refusal}`);
    }
    if (sent > 0) say('Sent.');
    // A response counts as a connection, so a refresh without an answer would send the ticks again at once.
    if (answered > 0) await refresh().catch(() => {});
  });
  showTicks();
}

addEventListener('connected', () => enqueue(sendTicks));
addEventListener('listshown', showTicks);
addEventListener('storage', showTicks);
showTicks();
