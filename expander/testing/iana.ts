import { readFileSync } from 'node:fs';

/** Returns the blocks of IANA's special-purpose address registry in CIDR notation. */
export function specialPurposeBlocks(family: 'ipv4' | 'ipv6'): string[] {
  const [, ...rows] = parseCsv(readRegistry(`iana-${family}-special-registry-1.csv`));
  // A row may have two blocks. A block may have a footnote.
  return rows.flatMap(([blocks = '']) => blocks.split(', ')).map((block) => block.replace(/ \[\d+\]$/, ''));
}

const readRegistry = (name: string) => readFileSync(`${import.meta.dirname}/iana/${name}`, 'utf8');

/** Parses CSV (RFC 4180). The first row is the header. */
function parseCsv(csv: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end !== ',') rows.push([]);
  }
  return rows.slice(0, -1);
}
