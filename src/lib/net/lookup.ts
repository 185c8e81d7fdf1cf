import { lookup } from 'node:dns/promises';

export type Lookup = (host: string) => Promise<readonly { readonly address: string }[]>;

/** Queries the machine's resolver. Cannot be cancelled, and occupies a thread of the pool meanwhile. */
export const systemLookup: Lookup = (host) => lookup(host, { all: true });
