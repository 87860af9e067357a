// Windows only (not tried yet). The addon is linked to "NODE.EXE", but the loading program may have any name
// (electron.exe, kvasir.exe). This hook resolves the delay-loaded import to the running program.
#include <windows.h>

#include <cstring>

#include <delayimp.h>

static FARPROC WINAPI answer_with_host(unsigned event, DelayLoadInfo* info) {
    if (event != dliNotePreLoadLibrary || _stricmp(info->szDll, "NODE.EXE") != 0) {
        return nullptr;
    }
    return reinterpret_cast<FARPROC>(GetModuleHandleW(nullptr));
}

extern "C" const PfnDliHook __pfnDliNotifyHook2 = answer_with_host;
