//! Answers to requests that others follow too early.
//!
//! uWebSockets.js closes a connection as soon as a request comes behind one that is still running (HttpContext.h, at
//! `HTTP_RESPONSE_PENDING`), and its API tells of neither. But its binary calls `us_socket_close` by its exported name, so a function of
//! that name here is called instead. While a request waits for its answer, and its client has not left, it does not close: the
//! library then drops the rest of what it read, sends what it had answered before, and lets the request be answered. Without those
//! names, in another build of the library, all is as it was.

use napi::JsValue;
use napi::bindgen_prelude::Object;
use napi_derive::napi;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::OnceLock;

type Socket = *mut c_void;

/// Functions of the library (libusockets.h), and one of V8 in Node.
struct Library {
    close: unsafe extern "C" fn(c_int, Socket, c_int, *mut c_void) -> Socket,
    context: unsafe extern "C" fn(c_int, Socket) -> *mut c_void,
    loop_of: unsafe extern "C" fn(c_int, *mut c_void) -> *mut c_void,
    descriptor: unsafe extern "C" fn(Socket) -> c_int,
    change: unsafe extern "C" fn(Socket, *mut c_void, c_int),
    events: unsafe extern "C" fn(Socket) -> c_int,
    /// `v8::Object::SlowGetAlignedPointerFromInternalField(int)`
    field: unsafe extern "C" fn(*mut c_void, c_int) -> *mut c_void,
}

static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
/// `LIBUS_SOCKET_WRITABLE`
const WRITABLE: c_int = 2;
/// `TCP_ESTABLISHED`: neither side has ended the connection.
const ESTABLISHED: u8 = 1;
/// Most bytes that are thrown away at a time.
const UNREAD_BYTES_MAX: usize = 1024 * 1024;

thread_local! {
    /// Connections of this thread's loop whose request has been read and waits for its answer. The descriptor once another has come.
    static WAITING: RefCell<HashMap<usize, Option<c_int>>> = RefCell::default();
    /// Descriptors of connections that end with the answer that has begun.
    static ENDING: RefCell<HashMap<usize, c_int>> = RefCell::default();
}

/// Makes requests be answered that others follow. Call it once uWebSockets.js is loaded, before it listens. Returns whether it will.
#[napi(catch_unwind)]
pub fn answer_before_following(library: String) -> bool {
    LIBRARY.get_or_init(|| find(&library)).is_some() && promote()
}

/// A request has been read whole and waits for its answer. Returns its connection; 0 where the library is another.
#[napi(catch_unwind)]
pub fn waits_for_answer(response: Object) -> i64 {
    let Some(Some(library)) = LIBRARY.get() else { return 0 };
    // SAFETY: a napi_value is V8's handle of the object, and responses have the library's socket as their first internal field. It
    // is compared, never followed.
    let socket = unsafe { (library.field)(response.value().value.cast(), 0) } as usize;
    // It may be called again: a request that was dropped meanwhile stays noted.
    WAITING.with_borrow_mut(|waiting| _ = waiting.entry(socket).or_insert(None));
    socket as i64
}

/// The answer of a request begins, or its client has left. Returns whether the connection has to end with it: a request behind
/// it has been dropped.
#[napi(catch_unwind)]
pub fn begins_answer(connection: i64) -> bool {
    let socket = connection as usize;
    let Some(Some(descriptor)) = WAITING.with_borrow_mut(|waiting| waiting.remove(&socket)) else { return false };
    ENDING.with_borrow_mut(|ending| ending.insert(socket, descriptor));
    true
}

/// Before all connections of this thread are closed: none stays open for its answer.
#[napi(catch_unwind)]
pub fn waits_no_more() {
    WAITING.with_borrow_mut(HashMap::clear);
}

/// After the last answer of a connection: ends it for writing, and throws away what has come. What is not read makes the kernel
/// reset a connection that is closed, and a reset can overtake the answer. Returns whether more can come.
#[napi(catch_unwind)]
pub fn throw_away_rest(connection: i64) -> bool {
    let Some(descriptor) = ENDING.with_borrow(|ending| ending.get(&(connection as usize)).copied()) else {
        return false;
    };
    // SAFETY: the descriptor is open until `us_socket_close` takes it out. With MSG_TRUNC nothing is written to the place (tcp(7)).
    let received = unsafe {
        libc::shutdown(descriptor, libc::SHUT_WR);
        libc::recv(descriptor, std::ptr::null_mut(), UNREAD_BYTES_MAX, libc::MSG_TRUNC | libc::MSG_DONTWAIT)
    };
    received > 0 || (received < 0 && std::io::Error::last_os_error().kind() == std::io::ErrorKind::WouldBlock)
}

/// Whether a request has been dropped behind this one.
#[napi(catch_unwind)]
pub fn is_followed(connection: i64) -> bool {
    WAITING.with_borrow(|waiting| matches!(waiting.get(&(connection as usize)), Some(Some(_))))
}

/// Replaces the function of this name in uWebSockets.js, which calls it.
///
/// # Safety
/// As of the library's: a socket of this thread's loop.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn us_socket_close(ssl: c_int, socket: Socket, code: c_int, reason: *mut c_void) -> Socket {
    // Nothing calls this before the library was found.
    let Some(Some(library)) = LIBRARY.get() else { return socket };
    // SAFETY: as the caller's.
    unsafe {
        if ssl == 0 && keeps(library, socket) {
            return socket;
        }
        WAITING.with_borrow_mut(|waiting| waiting.remove(&(socket as usize)));
        ENDING.with_borrow_mut(|ending| ending.remove(&(socket as usize)));
        (library.close)(ssl, socket, code, reason)
    }
}

/// Marks a waiting connection and stops reading it. Its client may leave unseen then, until the answer.
unsafe fn keeps(library: &Library, socket: Socket) -> bool {
    WAITING.with_borrow_mut(|waiting| {
        let Some(followed) = waiting.get_mut(&(socket as usize)) else { return false };
        // SAFETY: the library's own socket, which is open.
        unsafe {
            let descriptor = (library.descriptor)(socket);
            if !is_established(descriptor) {
                return false;
            }
            *followed = Some(descriptor);
            let events = (library.events)(socket) & WRITABLE;
            (library.change)(socket, (library.loop_of)(0, (library.context)(0, socket)), events);
        }
        true
    })
}

fn is_established(descriptor: c_int) -> bool {
    let mut state = 0_u8;
    let mut length = 1;
    // SAFETY: both places live through the call, and the kernel writes at most `length` bytes: the first is the state (tcp(7)).
    let result = unsafe {
        libc::getsockopt(descriptor, libc::IPPROTO_TCP, libc::TCP_INFO, (&raw mut state).cast(), &raw mut length)
    };
    result == 0 && state == ESTABLISHED
}

/// The functions, where all are there. @param path the library's file, which is loaded
#[allow(clippy::missing_transmute_annotations, reason = "the fields have the types")]
fn find(path: &str) -> Option<Library> {
    let path = CString::new(path).ok()?;
    // SAFETY: the library is loaded already, and stays so; the signatures are those of its header, and of V8's.
    unsafe {
        let handle = libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if handle.is_null() {
            return None;
        }
        let named = |handle, name: &std::ffi::CStr| {
            let found = libc::dlsym(handle, name.as_ptr());
            (!found.is_null()).then_some(found)
        };
        let v8 = c"_ZN2v86Object38SlowGetAlignedPointerFromInternalFieldEi";
        Some(Library {
            close: std::mem::transmute(named(handle, c"us_socket_close")?),
            context: std::mem::transmute(named(handle, c"us_socket_context")?),
            loop_of: std::mem::transmute(named(handle, c"us_socket_context_loop")?),
            descriptor: std::mem::transmute(named(handle, c"us_poll_fd")?),
            change: std::mem::transmute(named(handle, c"us_poll_change")?),
            events: std::mem::transmute(named(handle, c"us_poll_events")?),
            field: std::mem::transmute(named(libc::RTLD_DEFAULT, v8)?),
        })
    }
}

/// Lets this addon's exported names come before those of libraries whose calls are bound later.
fn promote() -> bool {
    // SAFETY: all zeros are a valid Dl_info.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the place lives through the call; the name that is found is that of this loaded file.
    unsafe {
        if libc::dladdr(us_socket_close as *const c_void, &raw mut info) == 0 {
            return false;
        }
        let file: *const c_char = info.dli_fname;
        !libc::dlopen(file, libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_GLOBAL).is_null()
    }
}
