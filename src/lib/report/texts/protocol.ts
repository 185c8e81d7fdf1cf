import type { Language } from '../document.ts';
import { protocolDe } from './protocol.de.ts';
import { protocolEn } from './protocol.en.ts';

export type ProtocolTexts = typeof protocolEn;
export const protocolTexts: Readonly<Record<Language, ProtocolTexts>> = { de: protocolDe, en: protocolEn };
