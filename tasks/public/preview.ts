import { make } from './dom.js';
import { findMarker, readItem } from './list-markers.js';

type Item = ReturnType<typeof readItem>;

/** The tasks that the server will read from a text. */
function itemsIn(text: string): Item[] {
  const marker = findMarker(text);
  return text
    .split('\n')
    .map((line) => readItem(line, marker))
    .filter(({ title }) => title.trim());
}

function show(name: string, { title, finished }: Item) {
  const line = make('span', { textContent: finished ? `${name}, finished: ` : `${name}: ` });
  line.append(make('bdi', { textContent: title.trim(), translate: false }));
  return line;
}

/** Shows the first and the last task that a form with a list will add, as the server will read them. */
export function preview(form: HTMLFormElement): void {
  const { value } = form.querySelector('[name=text]') as HTMLTextAreaElement;
  const items = itemsIn(value);
  const ends = [
    { name: 'First', item: items[0] },
    { name: 'Last', item: items.slice(1).at(-1) },
  ];
  const lines = ends.flatMap(({ name, item }) => (item ? show(name, item) : []));
  form.querySelector('.preview')?.replaceChildren(...lines);
}
