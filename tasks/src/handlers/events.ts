import { createPieceQueue } from '@longhand/shared/pieces.ts';
import type { LazyResponse } from '@longhand/shared/routes.ts';
import { TaskError } from '../task/errors.ts';
import type { TasksContext } from '../web/context.ts';
import type { Dependencies } from '../web/dependencies.ts';
import { respond } from '../web/responses.ts';

/** Maximum event streams per replica. Each stream needs a socket and a few kilobytes of memory. */
const maxStreams = 2_000;

/** Maximum pending events per slow client. */
const maxUnread = 16;

const headers = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // Prevents nginx from buffering the events.
  'X-Accel-Buffering': 'no',
};

type Used = Pick<Dependencies, 'changes' | 'signal' | 'eventStreams'>;

/**
 * Server-sent events (HTML standard, section 9.2): `data: <version>` immediately and after each change.
 *
 * @param signal ends all streams when the replica stops, so that pages connect to another replica
 * @param heartbeat milliseconds between comments; the default is half the proxy's read timeout
 */
export function eventsHandlers({ changes, signal, eventStreams }: Used, heartbeat = 5_000) {
  let streams = 0;
  return {
    stream(c: TasksContext): LazyResponse {
      if (c.req.method === 'HEAD') return respond(c, null, 200, headers);
      if (streams >= maxStreams)
        throw new TaskError('too_many_streams', 'Too many pages are watching the list.');
      const disconnect = new AbortController();
      const end = AbortSignal.any([signal, disconnect.signal]);
      const events = createPieceQueue(() => disconnect.abort());
      // A slow client misses events, but the next event has the newest version.
      const send = (text: string) => {
        if (events.length <= maxUnread) events.push(() => text);
      };
      send('retry: 1000\n\n');
      const timer = setInterval(() => send(':\n\n'), heartbeat);
      const unsubscribe = changes.subscribe((version) => send(`data: ${version}\n\n`));
      streams += 1;
      eventStreams?.inc();
      const stop = () => {
        streams -= 1;
        eventStreams?.dec();
        clearInterval(timer);
        unsubscribe();
        events.end();
      };
      if (end.aborted) stop();
      else end.addEventListener('abort', stop);
      return respond(c, events, 200, headers);
    },
  };
}
