import { readdirSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { explain, type Found, readLine } from '@longhand/shared/waterfall.ts';
import { findLines } from './log-files.ts';

/** Explains the request `id`: asks every service of the running stack in `folder`, and reads the proxy's log. */
export async function explainRequest(folder: string, id: string): Promise<string> {
  const found: Found = { lines: [], requests: [] };
  for await (const line of findLines(join(folder, 'log'), id)) readLine(found, line);
  const sockets = readdirSync(join(folder, 'run')).filter((name) =>
    /^(expander|tasks).*-ops\.sock$/.test(name),
  );
  for (const socket of sockets) {
    const path = `/requests?id=${id}`;
    // A service that hangs or is away explains nothing itself; the proxy's line says that it did not answer.
    readLine(found, await ask(join(folder, 'run', socket), path).catch(() => '[]'));
  }
  return explain(found.lines, found.requests);
}

function ask(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(2_000);
    get({ socketPath, path, agent: false, signal }, (answer) => resolve(text(answer))).on('error', reject);
  });
}
