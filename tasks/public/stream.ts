// The event stream with the versions of the list. A browser opens only six connections per server, so one visible page of the
// browser holds the stream and passes on what it hears. Without Web Locks (plain http), each page has its own stream.

/** Milliseconds without an event until the page reconnects. The server sends the version every 5 s. */
const silence = 20_000;

/** What pages of a browser tell each other. A new page asks for the last version. */
type Message = { version: string } | 'lost' | 'ask' | 'reconnect';

interface Listener {
  heard: (version: string) => void;
  /** The server has refused the stream. */
  refused: () => void;
}

let listener: Listener | undefined;
let channel: BroadcastChannel | undefined;
/** Defined in the page that holds the stream. */
let source: EventSource | undefined;
let watch: ReturnType<typeof setTimeout> | undefined;
let lastHeard = 0;
/** The last version that this page has heard. */
let latest: string | undefined;
let isSessionOver = false;

export const hasSession = () => !isSessionOver;

const tell = (message: Message) => channel?.postMessage(message);

function heard(version: string) {
  lastHeard = performance.now();
  latest = version;
  isSessionOver = false;
  reconnectIn(silence);
  listener?.heard(version);
}

function lost() {
  dispatchEvent(new Event('connectionlost'));
}

function receive(message: Message) {
  if (message === 'lost') lost();
  else if (message === 'ask') passOn();
  else if (message === 'reconnect') reconnect();
  else heard(message.version);
}

function passOn() {
  // A page that has just been opened has a session.
  if (isSessionOver) reconnect();
  // This page may have lost the connection since, and the other one would believe that there is one.
  if (source?.readyState === EventSource.OPEN && latest !== undefined) tell({ version: latest });
}

/** Ends this page's part in the stream. If it holds the stream, the next page takes it. */
let leave = () => {};

/** Takes the stream once no other page holds it, and listens until then. A hidden page does neither. */
function join(options: LockOptions = {}) {
  leave();
  if (document.hidden) return;
  const left = new AbortController();
  channel = new BroadcastChannel('events');
  channel.onmessage = ({ data }) => receive(data);
  leave = () => {
    clearTimeout(watch);
    source?.close();
    source = undefined;
    channel?.close();
    left.abort();
  };
  reconnectIn(silence);
  if (!isSecureContext) return connect();
  tell('ask');
  const hold = () => {
    if (left.signal.aborted) return undefined;
    connect();
    return new Promise((resolve) => left.signal.addEventListener('abort', resolve));
  };
  navigator.locks.request('events', options.steal ? options : { signal: left.signal }, hold).catch(() => {
    // Another page has taken the stream.
    if (!left.signal.aborted) join();
  });
}

/** Connects to the server, in the page that holds the stream. */
function connect() {
  source?.close();
  const opened = new EventSource('/tasks/events');
  source = opened;
  opened.onmessage = ({ data }) => {
    heard(data);
    passOn();
  };
  opened.onerror = () => {
    const isRefused = opened.readyState === EventSource.CLOSED;
    // A server that asks for a login has answered.
    if (!isRefused || !isSessionOver) {
      lost();
      tell('lost');
    }
    // The browser itself retries lost connections, but not error statuses.
    if (!isRefused) return;
    reconnectIn(2_000 * (isSessionOver ? 5 : 1) * (1 + Math.random()));
    listener?.refused();
  };
}

function reconnect() {
  if (source) connect();
}

function reconnectIn(milliseconds: number) {
  clearTimeout(watch);
  watch = setTimeout(() => {
    if (performance.now() >= lastHeard + silence) lost();
    // The page that holds the stream may hang.
    if (!source) return join({ steal: true });
    connect();
    reconnectIn(silence);
  }, milliseconds);
}

function open() {
  lastHeard = performance.now();
  join();
}

/** Connects again, because the stream would outlive a logout in another tab. */
export function endSession() {
  isSessionOver = true;
  tell('reconnect');
  reconnect();
}

/** Hears the versions of the list while the page is visible. */
export function listen(to: Listener) {
  listener = to;
  document.addEventListener('visibilitychange', open);
  addEventListener('online', open);
  addEventListener('pagehide', () => leave());
  addEventListener('pageshow', open);
}
