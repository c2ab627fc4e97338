import type { HopResponse } from './expansion.ts';

/** What opening a file can do, by extension. */
interface Program {
  extensions: string;
  /** What the link downloads. */
  what: string;
  reason: string;
  /** Set if browsers show the file as text or as a page unless the website asks them to save it. */
  isText?: true;
}

const runs = 'A program can read and change everything on your computer.';

const programs: readonly Program[] = [
  { extensions: 'exe msi msix appx scr com pif cpl dll', what: 'a program for Windows', reason: runs },
  {
    extensions: 'bat cmd vbs vbe wsf wsh ps1 hta reg js jse',
    what: 'a program for Windows',
    reason: 'Windows runs it when you open it. It can read and change everything on your computer.',
    isText: true,
  },
  { extensions: 'lnk url', what: 'a shortcut to a program', reason: 'It can start any program.' },
  {
    extensions: 'apk xapk apkm',
    what: 'a program for Android',
    reason: 'Opening it installs an app that no store has checked.',
  },
  { extensions: 'dmg pkg', what: 'a program for Mac', reason: runs },
  {
    extensions: 'jar jnlp',
    what: 'a program',
    reason: 'Java runs it when you open it. It can read and change everything on your computer.',
  },
  { extensions: 'deb rpm appimage run', what: 'a program for Linux', reason: runs },
  {
    extensions: 'sh command',
    what: 'a program',
    reason: 'Your computer runs it when you open it.',
    isText: true,
  },
  {
    extensions: 'iso img vhd vhdx',
    what: 'a disk image with programs',
    reason: 'Your computer may start them without its usual warning about downloads.',
  },
  {
    extensions: 'docm dotm xlsm xltm xlam pptm potm ppsm',
    what: 'a document with programs',
    reason: 'The programs in it, its “macros”, run when you allow them. Do not allow them.',
  },
  {
    extensions: 'svg html htm xhtml shtml mht mhtml',
    what: 'a web page with programs',
    reason: 'It runs them when you open it, and nothing shows whose page it is. Type no password into it.',
    isText: true,
  },
];

const byExtension = new Map(
  programs.flatMap((program) =>
    program.extensions.split(' ').map((extension) => [extension, program] as const),
  ),
);

/** Files that show something and run nothing, by extension. */
const documents = new Map(
  Object.entries({
    'a PDF': 'pdf',
    'a picture': 'jpg jpeg png gif webp avif heic bmp tif tiff',
    'a sound': 'mp3 m4a aac ogg oga opus wav flac',
    'a video': 'mp4 m4v webm mov mkv avi',
    'a text document': 'doc docx dotx odt rtf',
    'a spreadsheet': 'xls xlsx ods csv tsv',
    'a presentation': 'ppt pptx odp key',
    'a text file': 'txt md log json xml yml',
    'a calendar entry': 'ics',
    'a book': 'epub mobi',
  }).flatMap(([look, extensions]) => extensions.split(' ').map((extension) => [extension, look] as const)),
);

/** Files that contain other files, by extension. */
const archives = new Set('zip rar 7z tar gz tgz bz2 xz zst'.split(' '));

type File = NonNullable<HopResponse['file']>;

/** Splits a file name before its last extension, which alone determines what opens the file. */
export function splitName(name: string): { stem: string; extension: string } {
  const start = name.lastIndexOf('.');
  return start < 1
    ? { stem: name, extension: '' }
    : { stem: name.slice(0, start), extension: name.slice(start) };
}

const kindOf = (extension: string) => extension.slice(1).toLowerCase();

/**
 * Describes a program or script that a browser saves.
 *
 * @returns `what` it is; `reason` why opening it is risky; `looksLike`, such as `a PDF`, if the name has another extension before
 * the last. Null for all other files.
 */
export function programIn({ name, saved }: File) {
  const { stem, extension } = splitName(name);
  const program = byExtension.get(kindOf(extension));
  if (!program || (program.isText && !saved)) return null;
  const { what, reason } = program;
  return { what, reason, looksLike: documents.get(kindOf(splitName(stem.trimEnd()).extension)) ?? null };
}

/** Names the kind of a file that only shows something, such as `a PDF` or `a picture`; null for all other files. */
export function documentIn({ name }: File): string | null {
  return documents.get(kindOf(splitName(name).extension)) ?? null;
}

/** Names a file that may contain anything: `an archive` or `a file`. */
export function containerIn({ name }: File): string {
  return archives.has(kindOf(splitName(name).extension)) ? 'an archive' : 'a file';
}
