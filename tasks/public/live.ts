import { enqueue, heard, refreshQuietly } from './change.js';
import { complain } from './notice.js';

/** Milliseconds of silence after which the connection counts as lost: the server sends the version every 5 s. */
const silence = 20_000;
/** Milliseconds until the next attempt if the server refused the connection; the browser retries in other cases. */
const pause = 2_000;

// A hidden page closes the connection, because a browser opens only six to one server.
let source: EventSource | undefined;
let watch: ReturnType<typeof setTimeout> | undefined;
let lastHeard = 0;

function open() {
  lastHeard = performance.now();
  connect();
}

function connect() {
  close();
  if (document.hidden) return;
  source = new EventSource('/tasks/events');
  source.onmessage = ({ data }) => {
    lastHeard = performance.now();
    reconnectIn(silence);
    heard(data);
  };
  source.onerror = () => {
    if (source?.readyState !== EventSource.CLOSED) return;
    reconnectIn(pause * (1 + Math.random()));
    // Its status says whether the session has ended.
    enqueue(refreshQuietly);
  };
  reconnectIn(silence);
}

function close() {
  clearTimeout(watch);
  source?.close();
  source = undefined;
}

function reconnectIn(milliseconds: number) {
  clearTimeout(watch);
  watch = setTimeout(() => {
    if (performance.now() >= lastHeard + silence) complain('Not connected. This list may be out of date.', 0);
    connect();
  }, milliseconds);
}

document.addEventListener('visibilitychange', open);
addEventListener('online', open);
addEventListener('pagehide', close);
addEventListener('pageshow', ({ persisted }) => persisted && open());
open();
