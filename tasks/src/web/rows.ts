import { randomUUID } from 'node:crypto';
import type { Task } from '../task/task.ts';
import type { Render } from './views.ts';

/** Rows rendered per turn of the event loop: with 20 links each they take 2 ms. */
const rowsATurn = 10;

/** Bytes of cached rows: 4,000 usual ones, 250 of the largest. */
const maxKept = 8 * 1024 * 1024;

/** Bytes of a row besides its text and HTML, roughly. */
const overhead = 500;

/** Marks the place of `back`, the only difference of a row between pages. */
const mark = randomUUID();

interface Row {
  revision: number;
  /** With the mark. */
  text: string;
  size: number;
  /** The row on the last page. */
  shown?: { back: string; html: Uint8Array };
}

/** Renders rows of the list, with a cache of the latest ones. */
export function createRows(render: Render) {
  const encoder = new TextEncoder();
  const kept = new Map<string, Row>();
  let size = 0;

  const rendered = (task: Task): Row => {
    const text = render('task', { task, back: mark });
    return { revision: task.revision, text, size: 2 * text.length + overhead };
  };
  const keep = (id: string, row: Row) => {
    size += row.size - (kept.get(id)?.size ?? 0);
    kept.delete(id);
    kept.set(id, row);
    for (const [oldest, { size: freed }] of kept) {
      if (size <= maxKept) return;
      kept.delete(oldest);
      size -= freed;
    }
  };

  /** The HTML of `tasks`, with links that lead back to `back`. Renders a few rows at a time, after `turn`. */
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
        row = rendered(task);
        keep(task._id, row);
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
