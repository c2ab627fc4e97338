import { Eta } from 'eta';

/** Renders the view `name` with the data of its type in `Views`. */
export type Render<Views> = <Name extends keyof Views & string>(name: Name, data: Views[Name]) => string;

/**
 * The views of `folder`, `<name>.eta` each, compiled at first use. Values are escaped unless the view says otherwise.
 *
 * A view that prints `undefined` or `null` has a fault, which throws. With `onMissing` a service logs it and prints nothing.
 */
export function views<Views extends Record<keyof Views, object>>(
  folder: string,
  onMissing = (fault: Error): void => {
    throw fault;
  },
): Render<Views> {
  const print = (value: unknown, source = '') => {
    if (value !== undefined && value !== null) return value as string;
    onMissing(new Error(`A view in ${folder} prints ${source}, which is ${value}.`));
    return '';
  };
  const eta = new Eta({
    views: folder,
    cache: true,
    autoEscape: true,
    autoFilter: true,
    filterFunction: print,
    autoTrim: false,
    plugins: [{ processTemplate: withoutStatementLines, processAST: withSources }],
  });
  return (name, data) => eta.render(name, data);
}

/**
 * Removes the line break after a statement at the beginning of a line. Eta itself would remove those after values too,
 * and join the words around them.
 */
function withoutStatementLines(template: string): string {
  return template.replace(/^(<%(?![=~])(?:(?!%>).)*%>)\n/gm, '$1');
}

type Tags = (string | { t: string; val: string })[];

/** Passes the expression of a tag to the filter, as its second argument. */
function withSources(tags: Tags): Tags {
  return tags.map((tag) =>
    typeof tag === 'object' && /^[ir]$/.test(tag.t)
      ? { ...tag, val: `${tag.val}, ${JSON.stringify(tag.val)}` }
      : tag,
  );
}
