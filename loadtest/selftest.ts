/**
 * `node loadtest/selftest.ts` checks that the keepalive script detects delayed acknowledgements. The script must pass against
 * a server that sends each response in two writes, and fail against the same server with TCP no-delay off.
 */
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cutOff, listening } from '@longhand/shared/testing/listening.ts';
import { ensureK6, k6Files, runScript } from './k6.ts';
import { program } from './program.ts';

const form = '<form method="post" action="/task"><input type="hidden" name="_csrf" value="token"></form>';

/**
 * Starts a server that imitates the task list and sends every response in two writes. With `noDelay` off, Nagle's
 * algorithm holds back the second write until the client acknowledges the first, about 40 ms later.
 */
async function startSplitWriteServer(options: { noDelay: boolean }) {
  const server = http.createServer(options, (request, response) => {
    /** Sends `first` with the headers, and `second` in a separate write. */
    const respond = (status: number, headers: Record<string, string>, first: string, second: string) => {
      response.writeHead(status, { ...headers, 'Content-Length': first.length + second.length });
      response.write(first, () => response.end(second));
    };
    request.resume();
    if (request.method === 'POST') respond(302, { Location: '/' }, 'See', ' the list.\n');
    else if (request.url?.startsWith('/tasks'))
      respond(200, { 'Content-Type': 'application/json' }, '[', ']');
    else respond(200, { 'Set-Cookie': 'session-control=control; Path=/' }, '<title>Control</title>', form);
  });
  return {
    url: `http://127.0.0.1:${await listening(server)}`,
    async [Symbol.asyncDispose]() {
      cutOff(server);
    },
  };
}

/** Settings of a short run. Only delayed acknowledgements exceed these limits, even on a busy machine. */
export const short = {
  LOAD_RATE: '100',
  LOAD_DURATION: '3',
  LOAD_P50: '1000',
  LOAD_P99: '1000',
  LOAD_P999: '2000',
  LOAD_DELAYED: '0.4',
  LOAD_REOPENED: '0.02',
  LOAD_DROPPED: '40',
};

/**
 * Runs a short keepalive script against the split-write server.
 *
 * @returns k6's exit code (99: a threshold failed) and the share of delayed responses.
 */
export async function runControl(noDelay: boolean, env: Record<string, string> = {}) {
  await using server = await startSplitWriteServer({ noDelay });
  await using out = await mkdtempDisposable(join(tmpdir(), 'longhand-selftest-'));
  const variables = { ...short, ...env, TASKS_URL: server.url, TASKS_DIRECT_URL: '' };
  const result = await runScript({ script: 'keepalive', out: out.path, variables, quiet: true });
  const { metrics } = JSON.parse(await readFile(join(out.path, k6Files.summary), 'utf8'));
  const share = (name: string): number => metrics[`delayed_by_acknowledgement{scenario:proxy_${name}}`].value;
  return { ...result, delayed: { get: share('get'), post: share('post') } };
}

async function main(): Promise<void> {
  await ensureK6();
  for (const noDelay of [true, false]) {
    const { code, delayed, output } = await runControl(noDelay);
    const [get, post] = [delayed.get, delayed.post].map((share) => `${(100 * share).toFixed(1)} %`);
    console.log(
      `no-delay ${noDelay ? 'on' : 'off'}: the keepalive script ${code === 0 ? 'passes' : 'fails'} ` +
        `(k6 exited with ${code}); delayed by an acknowledgement: ${get} of GET, ${post} of POST.`,
    );
    const expected = noDelay ? 0 : 99;
    if (code !== expected) throw new Error(`${output}\nk6 should have exited with ${expected}.`);
  }
}

if (import.meta.main) await program(main);
