import { Eta } from 'eta';

/** Renders the view `name`, whose data has the type `Views[name]`. */
export type Render<Views> = <Name extends keyof Views & string>(name: Name, data: Views[Name]) => string;

/**
 * The views of `folder`, in files `<name>.eta`, compiled at first use. They escape values unless the view says otherwise.
 *
 * It is an error if a view prints `undefined` or `null`. By default that throws; with `onMissing`, the view prints nothing.
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

/** Removes the line break after a statement at the start of a line. Eta would also remove it after values, and join words. */
function withoutStatementLines(template: string): string {
  return template.replace(/^(<%(?![=~])(?:(?!%>).)*%>)\n/gm, '$1');
}

type Tags = (string | { t: string; val: string })[];

/** Passes the source of a tag to the filter, as its second argument. */
function withSources(tags: Tags): Tags {
  return tags.map((tag) =>
    typeof tag === 'object' && /^[ir]$/.test(tag.t)
      ? { ...tag, val: `${tag.val}, ${JSON.stringify(tag.val)}` }
      : tag,
  );
}
