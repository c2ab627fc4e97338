import { Eta } from 'eta';

export type Render<Views> = <Name extends keyof Views & string>(name: Name, data: Views[Name]) => string;

/**
 * Creates a function that renders `<name>.eta` in `folder`. Each view is compiled once. `<%=` escapes its value, and `<%~` does
 * not. Calls `onMissing`, which throws by default, if a value is `undefined` or `null`.
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
    plugins: [{ processTemplate: withoutStatementLines, processAST: (tags: Tag[]) => tags.map(withSource) }],
  });
  return (name, data) => eta.render(name, data);
}

/** Removes the line break after a statement at the start of a line. Eta's own trimming would join words. */
function withoutStatementLines(template: string): string {
  return template.replace(/^(<%(?![=~])(?:(?!%>).)*%>)\n/gm, '$1');
}

type Tag = string | { t: string; val: string };

/** Passes the expression's source code to `filterFunction` as the second argument. */
function withSource(tag: Tag): Tag {
  if (typeof tag === 'string' || !/^[ir]$/.test(tag.t)) return tag;
  return { ...tag, val: `${tag.val}, ${JSON.stringify(tag.val)}` };
}
