import { app } from 'electron';
import { App } from '../../app.ts';
void app.whenReady().then(() => App.open());
