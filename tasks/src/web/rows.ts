import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Task } from '../task/task.ts';
import type { Render } from './views.ts';

/** Rows rendered per turn of the event loop. Ten rows of 20 links take 2 ms. */
const rowsATurn = 10;

/** Bytes of cached rows: 4,000 typical rows, or 250 of the largest. */
const maxKept = 8 * 1024 * 1024;

/** Approximate bytes that a cached row takes in addition to its text. */
const overhead = 500;

/** A placeholder for `back`, which is the only part of a row that differs between pages. */
const mark = randomUUID();

interface Row {
  revision: number;
  /** The HTML, with `mark` instead of `back`. */
  text: string;
  /** The HTML for the last page that showed the row. */
  shown?: { back: string; html: Uint8Array };
}

/** Renders rows of the list, and caches the latest rows. */
export function createRows(render: Render) {
  const encoder = new TextEncoder();
  const sizeCalculation = ({ text }: Row) => 2 * text.length + overhead;
  const kept = new LRUCache<string, Row>({ maxSize: maxKept, sizeCalculation });

  /** The HTML of `tasks`. Its links lead back to `back`. Renders a few rows at a time, after each `turn`. */
  return async (tasks: readonly Task[], back: string, turn: () => Promise<void>): Promise<Uint8Array[]> => {
    const query = back.replaceAll('&', '&amp;');
    const html: Uint8Array[] = [];
    let missing = 0;
    for (const task of tasks) {
      let row = kept.get(task._id);
      if (row?.revision !== task.revision) {
        missing += 1;
        // A few rows, as after a write, need no turn.
        if (missing % rowsATurn === 0) await turn();
        row = { revision: task.revision, text: render('task', { task, back: mark }) };
        kept.set(task._id, row);
      }
      // `Buffer.from` would keep a pool of 8 KiB for a small text.
      if (row.shown?.back !== back) {
        row.shown = { back, html: encoder.encode(row.text.replaceAll(mark, query)) };
      }
      html.push(row.shown.html);
    }
    return html;
  };
}
