import type { Language } from '../document.ts';
import { recordDe } from './record.de.ts';
import { recordEn } from './record.en.ts';

export type RecordTexts = typeof recordEn;
export const recordTexts: Readonly<Record<Language, RecordTexts>> = { de: recordDe, en: recordEn };
