import { Refusal } from '../task/errors.ts';
import type { Changes } from '../task/task.ts';
import type { TasksContext } from '../web/context.ts';
import { respond } from '../web/responses.ts';

/** Pages that one replica keeps informed at once: each costs a socket and a few kilobytes. */
const maxStreams = 2_000;

/** Events that wait for a page that does not read them. */
const maxUnread = 16;

const headers = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // nginx would hold the events back.
  'X-Accel-Buffering': 'no',
};

/**
 * Server-sent events (the HTML standard, section 9.2): `data: <version>` at once and after each change, by
 * which a page knows that the list it shows is an older one.
 *
 * @param signal ends all of them: a replica that stops lets its pages go to another one.
 * @param heartbeat milliseconds between two comments: half of what the proxy waits for the next word.
 */
export function eventsController(
  { changes, signal }: { changes: Changes; signal: AbortSignal },
  heartbeat = 5_000,
) {
  let streams = 0;
  return {
    stream(c: TasksContext): Response {
      if (c.req.method === 'HEAD') return respond(c, null, 200, headers);
      if (streams >= maxStreams)
        throw new Refusal('too_many_streams', 'Too many pages are watching just now.');
      const encoder = new TextEncoder();
      let end = () => {};
      const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
        start(stream) {
          // Who does not read gets no more: the next word tells as much.
          const send = (text: string) => {
            if ((stream.desiredSize ?? 0) > -maxUnread) stream.enqueue(encoder.encode(text));
          };
          const timer = setInterval(() => send(':\n\n'), heartbeat);
          const unsubscribe = changes.subscribe((version) => send(`data: ${version}\n\n`));
          const stop = () => {
            end();
            stream.close();
          };
          streams += 1;
          end = () => {
            end = () => {};
            streams -= 1;
            clearInterval(timer);
            unsubscribe();
            signal.removeEventListener('abort', stop);
          };
          send('retry: 1000\n\n');
          if (signal.aborted) stop();
          else signal.addEventListener('abort', stop);
        },
        cancel: () => end(),
      });
      return respond(c, body, 200, headers);
    },
  };
}
