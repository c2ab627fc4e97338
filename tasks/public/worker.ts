// The service worker. Without a network, it shows the last list that this device has seen. It keeps that page and its files, and
// nothing else. It asks the network first, so it never shows an old list while the server responds.

const worker = self as unknown as ServiceWorkerGlobalScope;

/** Milliseconds to wait for the server before the kept list is shown. */
const patience = 5_000;

/** Statuses of a proxy that cannot reach the service. A 503 is the service's own answer: its page says what is wrong. */
const unreachable = [502, 504];

/** Milliseconds after which a list that has been opened is kept. Keeping it would compete with its first paint. */
const keepDelay = 1_000;

/** The folder from which the kept list loads its files. The browser loads those of the server's pages without the worker. */
const keptFolder = '/kept/';

/** The files of a page: what its tags name, not what the text of a task looks like. Their content never changes. */
const filesOfPage = / (?:src|href)="(\/public\/([\da-f]{12})\/[\w.-]+)"/g;

/** How often this device has forgotten the list. A page that was requested earlier is not kept. */
let forgotten = 0;

/** The version of the list that a page has last asked to keep, unless that failed. */
let askedVersion: unknown;

/** How many lists have been requested, and which of them is kept. A slow response does not replace a later list. */
let requested = 0;
let newest = 0;

/** An install event of browsers that can load some files without the worker, which takes time to start. */
interface InstallEvent extends ExtendableEvent {
  addRoutes?(rule: { condition: { urlPattern: { pathname: string } }; source: 'network' }): Promise<void>;
}

worker.addEventListener('install', (event: InstallEvent) => {
  event.addRoutes?.({ condition: { urlPattern: { pathname: '/public/*' } }, source: 'network' });
  worker.skipWaiting();
});

worker.addEventListener('activate', (event) => {
  event.waitUntil(Promise.all([worker.registration.navigationPreload.enable(), worker.clients.claim()]));
});

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== worker.origin) return;
  if (pathname === '/logout') event.waitUntil(forget());
  if (request.method !== 'GET') return;
  if (pathname === '/' && request.mode === 'navigate') event.respondWith(openList(event));
  else if (pathname.startsWith(keptFolder)) event.respondWith(openFile(pathname));
  else if (request.mode === 'navigate') event.respondWith(openPage(event));
});

// A page asks to keep the list as it is now. Each visible page does so after a change.
worker.addEventListener('message', (event) => {
  if (event.data === askedVersion) return;
  askedVersion = event.data;
  const list = new Request('/', { headers: { Accept: 'text/html' }, cache: 'no-cache' });
  event.waitUntil(tryToKeep(list, fetch(list)));
});

/** Loads a page. The browser may have requested it while the worker started. */
const load = async ({ request, preloadResponse }: FetchEvent): Promise<Response> =>
  (await preloadResponse) ?? fetch(request);

/** Returns the server's list, or the kept one if the server cannot be reached. */
async function openList(event: FetchEvent): Promise<Response> {
  const answer = load(event);
  const copy = answer.then((response) => later(response.clone()));
  event.waitUntil(tryToKeep(event.request, copy));
  const inTime = await Promise.race([answer.catch(() => undefined), after(patience)]);
  if (inTime && !unreachable.includes(inTime.status)) return inTime;
  return (await keptList()) ?? answer;
}

const after = (milliseconds: number) =>
  new Promise<undefined>((resolve) => {
    setTimeout(resolve, milliseconds);
  });

async function later(response: Response): Promise<Response> {
  await after(keepDelay);
  return response;
}

/** Keeps the list, or what the device already keeps if there is no connection. */
const tryToKeep = (request: Request, answer: Promise<Response>) =>
  keepList(request, answer).catch(() => {
    askedVersion = undefined;
  });

/** Keeps the whole list: not a search, a filtered list or a later page. */
async function keepList(request: Request, answer: Promise<Response>): Promise<void> {
  requested += 1;
  const number = requested;
  const before = forgotten;
  const response = await answer;
  if (new URL(response.url).pathname === '/login') return forget();
  if (response.redirected || new URL(request.url).search !== '') return;
  if (!response.ok) throw new Error(`status ${response.status}`);
  await keep(response, number);
  // The user has logged out meanwhile.
  if (forgotten !== before) await forget();
}

/** Keeps a page with all its files. The page of an earlier release goes only once this one is complete. */
async function keep(page: Response, number: number): Promise<void> {
  const named = [...(await page.clone().text()).matchAll(filesOfPage)];
  const release = named[0]?.[2];
  if (!release) return;
  const files = new Set(named.flatMap(([, path]) => path ?? []));
  const cache = await caches.open(release);
  const known = new Set((await cache.keys()).map(({ url }) => new URL(url).pathname));
  await cache.addAll([...files].filter((file) => !known.has(file)));
  // A release with a page is complete, and has this worker.
  if (!known.has('/') && (await isWithdrawn())) return end();
  if (number < newest) return;
  newest = number;
  await cache.put('/', page);
  for (const name of await caches.keys()) if (name !== release) await caches.delete(name);
}

/** Whether the server's release does not have this worker. */
async function isWithdrawn(): Promise<boolean> {
  const { status } = await fetch(worker.location.href, { method: 'HEAD', cache: 'no-store' });
  return status === 404;
}

async function end(): Promise<void> {
  await forget();
  await worker.registration.unregister();
}

/** Returns the kept list, marked with the time at which the server sent it. Its files come from the worker. */
async function keptList(): Promise<Response | undefined> {
  const kept = await caches.match('/');
  if (!kept) return undefined;
  const { headers } = kept;
  const html = (await kept.text())
    .replaceAll(filesOfPage, (tag) => tag.replace('/public/', keptFolder))
    .replace('<html', `<html data-as-of="${headers.get('date')}"`);
  return new Response(html, { headers });
}

/** Returns the server's page, or the kept list. The browser's error page would leave an installed app without a way back. */
async function openPage(event: FetchEvent): Promise<Response> {
  const page = await load(event).catch(() => undefined);
  // The server redirects to the login once a session has ended.
  if (page?.ok && new URL(event.request.url).pathname === '/login') await forget();
  return page ?? (await keptList()) ?? Response.error();
}

async function openFile(pathname: string): Promise<Response> {
  const file = pathname.replace(keptFolder, '/public/');
  const kept = await caches.match(file);
  // The kept response has the file's own URL, from which the browser would resolve the imports of a script.
  return kept ? new Response(kept.body, kept) : fetch(file);
}

/** Deletes what this device keeps of the list. */
async function forget(): Promise<void> {
  forgotten += 1;
  askedVersion = undefined;
  for (const name of await caches.keys()) await caches.delete(name);
}
