import { contextBridge } from 'electron';
contextBridge.exposeInMainWorld('kvasir', {});
