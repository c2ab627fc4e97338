/**
 * Letters, each before the Latin one that it looks like. From Unicode 17.0, security/confusables.txt (UTS #39): the
 * letters of these scripts that IDNA allows in a host, and whose prototype is that of a letter from a to z.
 */
const lookalikes = [
  'аa сc ԁd еe ҽe һh іi ꙇi јj ӏl оo рp ԛq гr ѕs ѵv ѡw шw ԝw хx уy үy',
  'αa ιi ϳj οo σo ρp ϸp ᴦr υu νv γy',
  'քf ցg հh ւi ոn ռn օo գq զq սu աw',
  'ⲥc ⲓi ⲟo ϭo ⲣp ⳏp ⲅr ⲽw ⲩy',
  'ჿo ყy',
].join(' ');
const latin = new Map(lookalikes.split(' ').map(([letter = '', look = '']) => [letter, look]));

/**
 * What the reader of a host in Unicode may take it for: `apple.com` for one whose Cyrillic letters all imitate Latin ones.
 *
 * @returns null if no label beyond ASCII consists of such letters, digits and hyphens only.
 */
export function imitatedHost(unicodeHost: string): string | null {
  const imitated = unicodeHost.split('.').map(imitatedLabel).join('.');
  return imitated === unicodeHost ? null : imitated;
}

function imitatedLabel(label: string): string {
  const looks = Array.from(label, (character) =>
    /[0-9-]/.test(character) ? character : latin.get(character),
  );
  return looks.includes(undefined) ? label : looks.join('');
}
