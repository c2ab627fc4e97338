// Tells that there is no connection, and what waits on this device. Keeps the list for the service worker.
import { list, make } from './dom.js';
import { waiting } from './kept.js';

const asOf = document.documentElement.dataset.asOf;

/** When the server last answered. */
let heardAt = asOf === undefined ? new Date() : new Date(asOf);
let isConnected = asOf === undefined;

/** The page that the user has asked for. Without a connection, the whole list is in its place. */
export const asked = new URL(location.href);

/** Whether the user has asked for a part of the list: a filter, a search or a later page. */
const askedForPart = asOf !== undefined && asked.pathname === '/' && asked.search !== '';

// The forms and links of the page are those of the whole list.
if (asOf !== undefined) history.replaceState(history.state, '', '/');

const line = make('p', { id: 'connection', role: 'status' });
document.body.prepend(line);

/** Milliseconds without an event from the server until the connection counts as lost. The server sends one every 5 s. */
const silence = 10_000;

/** When the connection was last lost (milliseconds since 1970). */
let lostAt = 0;

export const isOffline = () => !isConnected;

/** Whether there was a connection all the time, so that a request without an answer was just unlucky. */
export const hadConnection = (since: number) =>
  isConnected && lostAt < since && Date.now() - heardAt.getTime() < silence;

const counted = (count: number, one: string) => count > 0 && `${count} ${one}${count === 1 ? '' : 's'}`;

/** Returns a sentence about what waits, or an empty one. */
export function whatWaits(): string {
  const all = waiting();
  const ticks = all.filter(({ finished }) => finished !== undefined).length;
  const parts = [counted(ticks, 'tick'), counted(all.length - ticks, 'new task')].filter(Boolean);
  return parts[0] ? `${parts.join(' and ')} ${all.length === 1 ? 'waits' : 'wait'} on this device.` : '';
}

/** Shows the time of the list without a connection, and what waits. */
function tellConnection() {
  document.body.classList.toggle('offline', !isConnected);
  const hasPages = document.querySelector('.pages') !== null;
  const isToday = heardAt.toDateString() === new Date().toDateString();
  const time = heardAt.toLocaleString([], { timeStyle: 'short', ...(isToday ? {} : { dateStyle: 'short' }) });
  const sentences = [
    !isConnected && `As of ${time}, no connection.`,
    !isConnected && askedForPart && `This is the ${hasPages ? 'first page of the ' : ''}whole list.`,
    whatWaits(),
  ];
  const text = sentences.filter(Boolean).join(' ');
  if (line.textContent !== text) line.textContent = text;
}

function lose() {
  isConnected = false;
  lostAt = Date.now();
  tellConnection();
}

addEventListener('connectionlost', lose);
addEventListener('offline', lose);
addEventListener('connected', () => {
  // The list may have been lost on its way to the worker.
  if (!isConnected) keepList();
  isConnected = true;
  if (Date.now() - heardAt.getTime() > silence) lostAt = Date.now();
  heardAt = new Date();
  tellConnection();
});

/** Lets the service worker keep the list as it is now. */
const keepList = () => navigator.serviceWorker?.controller?.postMessage(list().dataset.version);

/** Milliseconds after the list was kept in which further changes wait, to be kept together. */
const keepPause = 200;

let isPaused = false;
let hasChanged = false;

/** Keeps the list at once, because a phone may lose its connection at any time. */
function keepShown() {
  if (isPaused) {
    hasChanged = true;
    return;
  }
  hasChanged = false;
  isPaused = true;
  keepList();
  setTimeout(() => {
    isPaused = false;
    if (hasChanged) keepShown();
  }, keepPause);
}

addEventListener('listshown', keepShown);

// A hidden page may never be shown again.
document.addEventListener('visibilitychange', () => {
  if (document.hidden) keepList();
});

// Browsers offer service workers only over TLS and on localhost. Without one, the list needs a connection. The worker starts after
// the first paint, for which it would compete.
addEventListener('load', () => {
  navigator.serviceWorker
    ?.register('/public/worker.js', { scope: '/', updateViaCache: 'none' })
    .catch(() => {});
});
// The first page was loaded without the worker.
navigator.serviceWorker?.addEventListener('controllerchange', keepList);

addEventListener('kept', tellConnection);
tellConnection();
