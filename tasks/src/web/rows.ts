import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Task } from '../task/task.ts';
import type { Render } from './views.ts';

/** Rows rendered per turn of the event loop. Ten rows of 20 links take 2 ms. */
const rowsATurn = 10;

/** Number of rows that a reloaded page shows without scrolling. Links in later rows return to the row above. */
const rowsAtTop = 5;

/** Maximum bytes of cached rows: 4,000 typical rows, or 250 of the largest. */
const maxKept = 8 * 1024 * 1024;

/** Approximate overhead per cached row in bytes. */
const overhead = 500;

/** A placeholder for the end of each link, the only part of a row that differs between pages. */
const mark = randomUUID();

interface Row {
  revision: number;
  /** The HTML, with `mark` as a placeholder in its links. */
  text: string;
  /** The HTML for the last page that showed the row. */
  shown?: { place: string; html: Uint8Array };
}

/** Returns a function that renders rows and caches the latest. */
export function createRows(render: Render) {
  const encoder = new TextEncoder();
  const sizeCalculation = ({ text }: Row) => 2 * text.length + overhead;
  const kept = new LRUCache<string, Row>({ maxSize: maxKept, sizeCalculation });

  /** Renders `tasks`, a few rows per `turn`. Links back to the list use the query string in `back`. */
  return async (tasks: readonly Task[], back: string, turn: () => Promise<void>): Promise<Uint8Array[]> => {
    const query = back.replaceAll('&', '&amp;');
    const html: Uint8Array[] = [];
    let missing = 0;
    for (const [i, task] of tasks.entries()) {
      let row = kept.get(task._id);
      if (row?.revision !== task.revision) {
        missing += 1;
        // Render a few new rows immediately, for example after a write.
        if (missing % rowsATurn === 0) await turn();
        row = { revision: task.revision, text: render('task', { task, back: mark }) };
        kept.set(task._id, row);
      }
      // `Buffer.from` would keep a pool of 8 KiB for a small text.
      // Browsers keep the fragment of a link when they follow a redirect (RFC 9110, section 10.2.2).
      const place = i < rowsAtTop ? query : `${query}#task-${tasks[i - 1]?._id}`;
      if (row.shown?.place !== place) {
        row.shown = { place, html: encoder.encode(row.text.replaceAll(mark, place)) };
      }
      html.push(row.shown.html);
    }
    return html;
  };
}
