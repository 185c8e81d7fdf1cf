import { checkProcess } from '../../src/lib/toolkit/own-check/process.ts';

const [, , name = ''] = process.argv;
const context = { signal: new AbortController().signal, onProgress: () => {} };
console.log(JSON.stringify(await checkProcess({ name }, context)));
