import { startShortener } from '@longhand/shortener';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { testExpander } from '../../testing/expander.ts';
import { answerTo, ask, serving } from '../../testing/serving.ts';
import { website } from '../../testing/website.ts';

const shortener = await startShortener();

test('a client has at most 4 revalidations in flight', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  let hangs = false;
  let hung = 0;
  let most = 0;
  const site = await website(({ url }, response) => {
    if (!hangs || !url?.includes('old')) {
      setTimeout(() => response.end(), 50);
      return;
    }
    hung += 1;
    most = Math.max(most, hung);
    response.on('close', () => {
      hung -= 1;
    });
  });
  const { app } = testExpander();
  const list = async (...names: string[]) => {
    const urls = names.flatMap((name) => Array.from({ length: 100 }, (_, i) => `${site}/${name}${i}`));
    const body = await (await app.request('/api/expand', { method: 'POST', body: urls.join('\n') })).text();
    return body.split('\n').filter((line) => line.includes('"error":null'));
  };
  expect(await list('old')).toHaveLength(100);
  vi.advanceTimersByTime(11 * 60_000);
  hangs = true;
  expect(await list('old', 'new')).toHaveLength(200);
  await expect.poll(() => most).toBe(4);
});

describe('a hung host', () => {
  /** Starts an expander. `hung` returns the number of hanging requests. */
  async function expander() {
    const { url } = await serving(testExpander().app);
    const requests = () => shortener.requests.get('HEAD /hang') ?? 0;
    const before = requests();
    const request = (u: string, client = '192.0.2.1') =>
      ask(url, `/api?u=${encodeURIComponent(u)}`, undefined, { 'X-Forwarded-For': client });
    const hang = (length: number, clientOf: (i: number) => string) =>
      Array.from({ length }, (_, i) => request(`${shortener.url}/hang?${i}`, clientOf(i)));
    return { request, hang, hung: () => requests() - before };
  }

  test('does not delay other hosts, even with 64 hops in flight', async () => {
    const { request, hang, hung } = await expander();
    const other = await website((_, response) => response.end());
    const waiting = hang(64, (i) => `192.0.2.${i % 2}`);
    await expect.poll(hung).toBe(64);
    const undisturbed = Array.from({ length: 64 }, (_, i) => answerTo(request(`${other}/?${i}`)));
    expect((await Promise.all(undisturbed)).map(({ statusCode }) => statusCode)).toEqual(Array(64).fill(200));
    const next = answerTo(request(`${shortener.url}/chain/0?in-turn`, '192.0.2.9'));
    waiting[0]?.destroy();
    expect((await next).statusCode).toBe(200);
  });

  test('occupies at most 56 slots of one client', async () => {
    const { request, hang, hung } = await expander();
    hang(64, () => '192.0.2.1');
    await expect.poll(hung).toBe(56);
    const status = async (path: string, client: string) =>
      (await answerTo(request(`${shortener.url}${path}`, client))).statusCode;
    expect(await status('/chain/0?alone', '192.0.2.2')).toBe(200);
    // Two clients share this expansion, which may use either client's slots.
    const shared = ['192.0.2.1', '192.0.2.2'].map((client) => status('/chain/1?delay=50', client));
    expect(await Promise.all(shared)).toEqual([200, 200]);
    expect(hung()).toBe(56);
  });
});

test('a client with 128 hops in flight and 256 waiting hops receives 503', async () => {
  const names: string[] = [];
  const { app } = testExpander({ lookup: (name) => new Promise(() => names.push(name)) });
  const request = (u: string, client: string) =>
    app.request(`/api?u=${encodeURIComponent(u)}`, { headers: { 'X-Forwarded-For': client } });
  for (let i = 0; i < 384; i += 1) request(`http://${i}.example/`, '192.0.2.1');
  await expect.poll(() => names.length).toBe(128);
  const { status, headers } = await request(`${shortener.url}/?own`, '192.0.2.1');
  expect([status, headers.get('retry-after'), headers.get('cache-control')]).toEqual([503, '1', 'no-store']);
  expect((await request(shortener.url, '192.0.2.2')).status).toBe(200);
});
