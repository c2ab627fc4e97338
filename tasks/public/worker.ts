// The service worker. Without a network, it shows the last list that this device has seen. It keeps that page and its files, and
// nothing else. It asks the network first, so it never shows an old list while the server responds.

const worker = self as unknown as ServiceWorkerGlobalScope;

/** Milliseconds to wait for the server before the kept list is shown. */
const patience = 5_000;

/** Statuses of a proxy that cannot reach the list. */
const unreachable = [502, 504];

/** The files of a release, whose content never changes. */
const releaseFile = /\/public\/[\da-f]{12}\/[\w.-]+/g;

worker.addEventListener('install', () => void worker.skipWaiting());
worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()));

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== worker.origin) return;
  if (request.method === 'POST' && pathname === '/logout') event.waitUntil(forget());
  if (request.method !== 'GET') return;
  if (pathname === '/' && request.mode === 'navigate') event.respondWith(openList(event));
  else if (pathname.match(releaseFile)?.[0] === pathname) event.respondWith(openFile(request));
});

// The page asks to keep the list as it is now.
worker.addEventListener('message', (event) => {
  const list = new Request('/', { headers: { Accept: 'text/html' }, cache: 'no-cache' });
  event.waitUntil(fetch(list).then((response) => keepList(list, response)));
});

/** Returns the server's list, or the kept one if the server cannot be reached. */
async function openList(event: FetchEvent): Promise<Response> {
  const { request } = event;
  const answer = fetch(request);
  event.waitUntil(answer.then((response) => keepList(request, response.clone())).catch(() => {}));
  const inTime = await Promise.race([answer.catch(() => undefined), after(patience)]);
  if (inTime && !unreachable.includes(inTime.status)) return inTime;
  return (await keptList()) ?? answer;
}

const after = (milliseconds: number) =>
  new Promise<undefined>((resolve) => {
    setTimeout(resolve, milliseconds);
  });

/** Keeps the whole list: not a search, a filtered list or a later page. */
async function keepList(request: Request, response: Response): Promise<void> {
  // The server redirects to the login if the session has ended.
  if (response.type === 'opaqueredirect' || response.redirected) return forget();
  if (response.ok && new URL(request.url).search === '') return keep(response);
}

/** Keeps a page with all its files. The page of an earlier release goes only once this one is complete. */
async function keep(page: Response): Promise<void> {
  const files = new Set((await page.clone().text()).match(releaseFile));
  const [release] = /[\da-f]{12}/.exec([...files].join()) ?? [];
  if (!release) return;
  const isNew = !(await caches.has(release));
  const cache = await caches.open(release);
  const known = new Set((await cache.keys()).map(({ url }) => new URL(url).pathname));
  await cache.addAll([...files].filter((file) => !known.has(file)));
  await cache.put('/', page);
  for (const name of await caches.keys()) if (name !== release) await caches.delete(name);
  if (isNew) await endIfWithdrawn();
}

/** Ends this worker if the server's release does not have it. */
async function endIfWithdrawn(): Promise<void> {
  const { status } = await fetch(worker.location.href, { method: 'HEAD', cache: 'no-store' });
  if (status !== 404) return;
  await forget();
  await worker.registration.unregister();
}

/** Returns the kept list, marked with the time at which the server sent it. */
async function keptList(): Promise<Response | undefined> {
  const kept = await caches.match('/');
  if (!kept) return undefined;
  const { headers } = kept;
  const html = (await kept.text()).replace('<html', `<html data-as-of="${headers.get('date')}"`);
  return new Response(html, { headers });
}

const openFile = async ({ url }: Request) => (await caches.match(url)) ?? fetch(url);

/** Deletes what this device keeps of the list. */
async function forget(): Promise<void> {
  for (const name of await caches.keys()) await caches.delete(name);
}
