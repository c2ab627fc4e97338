import { randomUUID } from 'node:crypto';
import type { Task } from '../task/task.ts';
import type { Render } from './views.ts';

/** Rows that are rendered in one turn of the event loop: with 20 links in each title they take 2 ms. */
const rowsATurn = 10;

/** Bytes of the rows that are kept: 4,000 usual ones, 250 of the largest. */
const maxKept = 8 * 1024 * 1024;

/** Bytes of a row besides its text and HTML, about. */
const overhead = 500;

/** Where the query goes that leads back to the part of the list: in it alone a row differs between pages. */
const mark = randomUUID();

interface Row {
  revision: number;
  /** With the mark. */
  text: string;
  size: number;
  /** The row as the last page showed it. */
  shown?: { back: string; html: Uint8Array };
}

/** Renders rows of the list. It keeps those of all pages, the last ones up to a number of bytes. */
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

  /**
   * The HTML of `tasks`, whose links lead back to the part of the list that the query `back` names. Rows are rendered a few
   * at a time, after `turn`.
   */
  return async (tasks: readonly Task[], back: string, turn: () => Promise<void>): Promise<Uint8Array[]> => {
    const query = back.replaceAll('&', '&amp;');
    const html: Uint8Array[] = [];
    let missing = 0;
    for (const task of tasks) {
      let row = kept.get(task._id);
      if (row?.revision !== task.revision) {
        missing += 1;
        // A few rows, as after a write, wait for nobody.
        if (missing % rowsATurn === 0) await turn();
        row = rendered(task);
        keep(task._id, row);
      }
      // Not `Buffer.from`: of a small text it makes a part of 8 KiB, which would all be kept.
      if (row.shown?.back !== back) {
        row.shown = { back, html: encoder.encode(row.text.replaceAll(mark, query)) };
      }
      html.push(row.shown.html);
    }
    return html;
  };
}
