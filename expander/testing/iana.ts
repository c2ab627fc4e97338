import { readFileSync } from 'node:fs';

export interface RegisteredBlock {
  /** In CIDR notation. */
  block: string;
  /** The documents that reserve it, such as `RFC 6890`. */
  rfcs: string[];
}

/** Every block of IANA's special-purpose address registry of one family. */
export function specialPurposeBlocks(family: 'ipv4' | 'ipv6'): RegisteredBlock[] {
  const [, ...rows] = rowsOf(published(`iana-${family}-special-registry-1.csv`));
  return rows.flatMap(([blocks = '', , documents = '']) => {
    const rfcs = [...documents.matchAll(/\[RFC(\d+)\]/g)].map(([, number]) => `RFC ${number}`);
    // Two blocks may share a row; some carry the number of a footnote.
    return blocks.split(', ').map((block) => ({ block: block.replace(/ \[\d+\]$/, ''), rfcs }));
  });
}

const published = (name: string) => readFileSync(`${import.meta.dirname}/iana/${name}`, 'utf8');

/** The records of a CSV text (RFC 4180), the header first. */
function rowsOf(csv: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end !== ',') rows.push([]);
  }
  return rows.slice(0, -1);
}
