import { enqueue, refresh } from './change.js';
import { list } from './dom.js';
import { editRestored } from './editing.js';
import { complain, endPassingComplaints, mention, report } from './notice.js';
import { failureOf } from './request.js';
import { settleUnanswered } from './unanswered.js';

/** Milliseconds without an event until the page reconnects. The server sends the version every 5 s. */
const silence = 20_000;

// A hidden page closes its connection, because a browser opens only six per server.
let source: EventSource | undefined;
let watch: ReturnType<typeof setTimeout> | undefined;
let lastHeard = 0; // Infinity after the session has ended
/** The last announced version. A slow page skips the versions in between. */
let latest = '';

function heard(version: string) {
  lastHeard = performance.now();
  reconnectIn(silence);
  latest = version;
  endPassingComplaints();
  dispatchEvent(new Event('connected'));
  enqueue(async () => {
    const shown = list().dataset.version;
    if (latest === shown) return;
    // A search is too expensive to repeat for each change.
    if (document.querySelector('.found'))
      return mention('The list changed.', { href: '', textContent: 'Search again' });
    await refreshQuietly();
    if (shown !== list().dataset.version)
      mention(`The list changed: ${document.getElementById('count')?.textContent}`);
  });
  enqueue(settleUnanswered);
  enqueue(editRestored);
}

/** Updates the list. Reports only the end of the session, and only once: the server soon sends the version again. */
const refreshQuietly = () =>
  refresh().catch((error) => {
    const failure = failureOf(error);
    const isTold = failure.kind === 'logged out' || failure.kind === 'script error';
    if (lastHeard < Infinity && isTold) report(failure);
  });

function open() {
  lastHeard = performance.now();
  connect();
}

function connect() {
  close();
  if (document.hidden) return;
  source = new EventSource('/tasks/events');
  source.onmessage = ({ data }) => heard(data);
  source.onerror = () => {
    dispatchEvent(new Event('connectionlost'));
    // The browser itself retries lost connections, but not error statuses.
    if (source?.readyState !== EventSource.CLOSED) return;
    reconnectIn(2_000 * (lastHeard < Infinity ? 1 : 5) * (1 + Math.random()));
    enqueue(refreshQuietly);
  };
  reconnectIn(silence);
}

function close() {
  clearTimeout(watch);
  source?.close();
}

function reconnectIn(milliseconds: number) {
  clearTimeout(watch);
  watch = setTimeout(() => {
    if (performance.now() >= lastHeard + silence)
      complain('Not connected. This list may be out of date.', { isPassing: true });
    connect();
  }, milliseconds);
}

document.addEventListener('visibilitychange', open);
addEventListener('online', open);
// The login opens in a new tab to keep typed text. The stream would outlive a logout in another tab.
addEventListener('loggedout', () => {
  const link = { href: '/login', target: '_blank', textContent: 'Log in' };
  complain('You are logged out.', { isPassing: true }, link);
  lastHeard = Infinity;
  connect();
});
addEventListener('pagehide', close);
addEventListener('pageshow', open);
