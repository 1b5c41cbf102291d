// Compiles HLSL by Microsoft's compiler: dxc LIBRARY PROFILE FILE...
//
// The first line of a file is a comment with a name, the second one a comment with the entry point. Prints "ok: NAME, N bytes", or "failed:
// NAME" and the compiler's messages, for each file. Exits with 1 if one failed, and with 2 if the compiler cannot be used.
#include <cstdio>
#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <string>

#include "WinAdapter.h"
#include "dxcapi.h"

/// Returns ASCII text as text of wide characters.
static std::wstring wide(const std::string &text) { return {text.begin(), text.end()}; }

/// Compiles a file with the arguments of wgpu. Returns true if it compiled.
static bool compile(IDxcCompiler3 *compiler, const std::wstring &profile, const char *path) {
  std::ifstream file(path);
  std::stringstream all;
  all << file.rdbuf();
  const std::string text = all.str();
  std::string name, entry;
  std::getline(all, name);
  std::getline(all, entry);
  name = name.substr(3);
  const std::wstring entry_point = wide(entry.substr(3));
  const wchar_t *arguments[] = {L"-E", entry_point.c_str(), L"-T", profile.c_str(), L"-HV", L"2018", L"-no-warnings", L"-Ges"};
  const DxcBuffer buffer = {text.data(), text.size(), DXC_CP_UTF8};
  CComPtr<IDxcResult> result;
  HRESULT status = E_FAIL;
  if (FAILED(compiler->Compile(&buffer, arguments, sizeof(arguments) / sizeof(*arguments), nullptr, IID_PPV_ARGS(&result))) ||
      FAILED(result->GetStatus(&status)) || FAILED(status)) {
    std::printf("failed: %s\n", name.c_str());
    CComPtr<IDxcBlobUtf8> errors;
    if (result && SUCCEEDED(result->GetOutput(DXC_OUT_ERRORS, IID_PPV_ARGS(&errors), nullptr)) && errors) {
      std::printf("%s\n", errors->GetStringPointer());
    }
    return false;
  }
  CComPtr<IDxcBlob> object;
  const bool has_object = SUCCEEDED(result->GetOutput(DXC_OUT_OBJECT, IID_PPV_ARGS(&object), nullptr)) && object;
  std::printf("%s: %s, %zu bytes\n", has_object ? "ok" : "failed", name.c_str(), has_object ? static_cast<size_t>(object->GetBufferSize()) : 0);
  return has_object;
}

int main(int count, char **arguments) {
  if (count < 4) return 2;
  void *library = dlopen(arguments[1], RTLD_NOW);
  if (!library) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  const auto create = reinterpret_cast<DxcCreateInstanceProc>(dlsym(library, "DxcCreateInstance"));
  CComPtr<IDxcCompiler3> compiler;
  if (!create || FAILED(create(CLSID_DxcCompiler, IID_PPV_ARGS(&compiler)))) return 2;
  bool all_compiled = true;
  for (int i = 3; i < count; i += 1) all_compiled &= compile(compiler, wide(arguments[2]), arguments[i]);
  return all_compiled ? 0 : 1;
}
