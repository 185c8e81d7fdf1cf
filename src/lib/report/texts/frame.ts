import type { Language } from '../document.ts';
import { frameDe } from './frame.de.ts';
import { frameEn } from './frame.en.ts';

export const frameTexts: Readonly<Record<Language, typeof frameEn>> = { de: frameDe, en: frameEn };
