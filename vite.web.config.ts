import { defineConfig } from 'vite';

export default defineConfig({
  root: 'web',
  base: '/assets/',
  publicDir: false,
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    modulePreload: false,
    license: { fileName: 'THIRD-PARTY-LICENSES.md' },
    rollupOptions: {
      input: { main: 'web/main.tsx', style: 'web/style.css' },
      output: { entryFileNames: '[name].js', assetFileNames: '[name][extname]' },
    },
  },
});
