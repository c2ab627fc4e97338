import { oneAtATime } from './places.ts';
import { type ListQuery, type Page, pageSize, type TaskStore } from './task.ts';

/** Maximum milliseconds per search. nginx waits 2 s for a response, and the store may need 1 s. */
const maxTime = 1_000;

/** Minimum titles to compare, even if the search has waited for a second. */
const minTitles = 1_000;

/** Milliseconds of searching per turn of the event loop. */
const turnTime = 2;

type Turn = () => Promise<void>;
type SearchQuery = ListQuery & { q: string };

/**
 * Finds the first 100 tasks of the list whose titles contain every word of `q`, ignoring case and accents. Stops after a
 * second, including the time spent waiting for the client's earlier searches. `turn` waits for a turn of the event loop.
 */
export function createSearch(
  store: Pick<TaskStore, 'list' | 'titles' | 'find'>,
  now = () => performance.now(),
) {
  const inOrder = oneAtATime();
  return (query: SearchQuery, client: string, turn: Turn): Promise<Page> => {
    const until = now() + maxTime;
    return inOrder(client, () => search(query, turn, until));
  };

  async function search({ filter, q }: SearchQuery, turn: Turn, until: number): Promise<Page> {
    // If folding removes the whole query (only accents), use the unfolded query. An empty query would match every title.
    const words = (fold(q).trim() || q).split(/\s+/);
    const { version, open, finished } = await store.list({ filter });
    // A task that is finished or reopened during the search may appear twice.
    const ids = new Set<string>();
    const found: Page['search'] = { searched: 0 };
    let turnEnds = 0;
    for await (const batch of store.titles(filter)) {
      for (const [id, title] of batch) {
        const time = now();
        if (ids.size === pageSize) found.stopped = 'matches';
        else if (time >= until && found.searched >= minTitles) found.stopped = 'time';
        if (found.stopped) break;
        if (time >= turnEnds) {
          await turn();
          turnEnds = now() + turnTime;
        }
        found.searched += 1;
        const folded = fold(title);
        if (words.every((word) => folded.includes(word))) ids.add(id);
      }
      if (found.stopped) break;
    }
    return { version, open, finished, before: 0, tasks: await store.find([...ids]), search: found };
  }
}

/** Combining accents of Latin, Greek, Cyrillic, Hebrew and Arabic, and Japanese voicing marks. */
const marks = /[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u3099-\u309a]+/g;

/** Capital letters with strokes, ligatures and curly quotation marks, which normalization keeps. */
const plain = { Ø: 'O', Ł: 'L', Đ: 'D', Æ: 'AE', Œ: 'OE', '‘': "'", '’': "'", '“': '"', '”': '"' };

/** Hyphens, dashes and the minus sign. */
const hyphens = /[\u2010-\u2015\u2212]/g;

/**
 * Removes case, accents and soft hyphens, and maps full-width letters and all hyphens to the usual ones. Skips normalization
 * for ASCII text, because normalization is slow (0.1 ms for 500 accents).
 */
function fold(text: string): string {
  if (/^[ -~]*$/.test(text)) return text.toUpperCase();
  const letters = text.normalize('NFKD').replace(marks, '').replaceAll('\u00ad', '').replace(hyphens, '-');
  // Lowercasing and then uppercasing maps ß and ẞ to SS, and σ and ς to Σ.
  const capitals = letters.toLowerCase().toUpperCase();
  return capitals.replace(/[ØŁĐÆŒ‘’“”]/g, (letter) => plain[letter as keyof typeof plain]);
}
