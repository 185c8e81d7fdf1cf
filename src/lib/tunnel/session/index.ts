export { createSupport } from './support.ts';
