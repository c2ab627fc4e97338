// Tells that there is no connection, and what waits on this device. Keeps the list for the service worker.
import { list, make } from './dom.js';
import { lines, ticks } from './kept.js';

const asOf = document.documentElement.dataset.asOf;

/** When the server last answered. */
let heardAt = asOf === undefined ? new Date() : new Date(asOf);
let isConnected = asOf === undefined;

const line = make('p', { id: 'connection', role: 'status' });
document.body.prepend(line);

/** Milliseconds without an event from the server until the connection counts as lost. The server sends one every 5 s. */
const silence = 10_000;

/** Whether a request without an answer was just unlucky. */
export const hasConnection = () => isConnected && Date.now() - heardAt.getTime() < silence;

const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const dayAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'short' });

const counted = (count: number, one: string) => `${count} ${count === 1 ? one : `${one}s`}`;

/** Shows the time of the list without a connection, and what waits. */
export function tellConnection() {
  document.body.classList.toggle('offline', !isConnected);
  const isToday = heardAt.toDateString() === new Date().toDateString();
  const waiting = [
    [Object.values(ticks()).filter(({ waits }) => waits).length, 'tick'] as const,
    [(lines()?.text.split('\n') ?? []).filter((text) => text.trim()).length, 'new task'] as const,
  ].filter(([count]) => count > 0);
  const [count = 0] = waiting[0] ?? [];
  const what = waiting.map(([count, one]) => counted(count, one)).join(' and ');
  const verb = waiting.length === 1 && count === 1 ? 'waits' : 'wait';
  const sentences = [
    isConnected ? '' : `As of ${(isToday ? time : dayAndTime).format(heardAt)}, no connection.`,
    what && `${what} ${verb} on this device.`,
  ];
  const text = sentences.filter(Boolean).join(' ');
  if (line.textContent !== text) line.textContent = text;
}

addEventListener('connectionlost', () => {
  isConnected = false;
  tellConnection();
});
addEventListener('offline', () => dispatchEvent(new Event('connectionlost')));
addEventListener('connected', () => {
  isConnected = true;
  heardAt = new Date();
  tellConnection();
});

/** The version of the list that the service worker keeps. */
let keptVersion: string | undefined;

/** Lets the service worker keep the list as it is now. */
function keepList() {
  const { version } = list().dataset;
  if (!isConnected || version === keptVersion) return;
  keptVersion = version;
  navigator.serviceWorker?.controller?.postMessage('keep');
}

// A hidden page may never be shown again.
document.addEventListener('visibilitychange', () => {
  if (document.hidden) keepList();
});

// Browsers offer service workers only over TLS and on localhost. Without one, the list needs a connection.
navigator.serviceWorker
  ?.register('/public/worker.js', { scope: '/', updateViaCache: 'none' })
  .catch(() => {});
// The first page was loaded without the worker.
navigator.serviceWorker?.addEventListener('controllerchange', keepList);

tellConnection();
