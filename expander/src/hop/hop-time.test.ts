import type { Socket } from 'node:net';
import { startShortener } from '@longhand/shortener';
import { describe, expect, test } from 'vitest';
import { answering } from '../../testing/answering.ts';
import { testExpander } from '../../testing/expander.ts';

const timeout = { code: 'timeout', message: expect.stringContaining('did not answer within 3 seconds') };

describe('a hop of more than 3 s is a timeout', () => {
  test.concurrent.each<[string, (socket: Socket) => void]>([
    ['with no answer', () => {}],
    [
      'with an answer that comes in drops',
      (socket) => {
        const drip = setInterval(() => socket.write('H'), 500);
        socket.write('HTTP/1.1 200 OK\r\nX: ');
        socket.once('close', () => clearInterval(drip));
      },
    ],
    [
      'with interim answers without end',
      (socket) => {
        const more = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 20);
        socket.once('close', () => clearInterval(more));
      },
    ],
  ])('%s', async (_, answer) => {
    const { error } = await testExpander().expand.trace(await answering(answer));
    expect(error).toMatchObject(timeout);
  });

  test.concurrent('after a redirect too, at the URL it had come to', async () => {
    const shortener = await startShortener();
    const u = `${shortener.url}/location?to=/hang`;
    const { error, longUrl, redirectCount } = await testExpander().expand.trace(u);
    expect(error).toMatchObject(timeout);
    expect([longUrl, redirectCount]).toEqual([`${shortener.url}/hang`, 1]);
    await shortener.close();
  });
});
