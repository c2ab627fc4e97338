import { readFileSync } from 'node:fs';

/** The blocks of IANA's special-purpose address registry, in CIDR notation. */
export function specialPurposeBlocks(family: 'ipv4' | 'ipv6'): string[] {
  const [, ...rows] = rowsOf(published(`iana-${family}-special-registry-1.csv`));
  // Some rows have two blocks, and some blocks a footnote.
  return rows.flatMap(([blocks = '']) => blocks.split(', ')).map((block) => block.replace(/ \[\d+\]$/, ''));
}

const published = (name: string) => readFileSync(`${import.meta.dirname}/iana/${name}`, 'utf8');

/** The records of a CSV text (RFC 4180), with the header. */
function rowsOf(csv: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end !== ',') rows.push([]);
  }
  return rows.slice(0, -1);
}
