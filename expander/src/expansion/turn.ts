/** The turn of a client's single requests, or of one of its lists. */
export const turnOf = (client = '', list?: number) => (list === undefined ? client : `${client}#${list}`);

/** The client whose turn it is. */
export const clientOf = (turn: string) => turn.replace(/#.*/, '');
