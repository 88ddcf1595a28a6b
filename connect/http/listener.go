package http

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/wstream/wstream/engine/connector"
)

// listeners are the servers of a process by the address that was asked for: sources with one address and several paths
// share one.
type listeners struct {
	mu sync.Mutex
	m  map[string]*listener
}

// sharedListeners is the key of the listeners in connector.Shared.
const sharedListeners = "http.listeners"

// listener is a server, and the sources behind its paths.
type listener struct {
	all     *listeners
	address string
	server  *http.Server
	tls     [2]string     // the files of certificate and key, empty for none
	served  chan struct{} // closed when the server has ended

	mu    sync.Mutex
	paths map[string]http.Handler
	ended func(error)
}

// listen puts a source behind a path of an address. ended is called when the server ends by itself.
func (ls *listeners) listen(address, path string, files [2]string, h http.Handler, ended func(error)) (*listener, error) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l := ls.m[address]; l != nil {
		if l.tls != files {
			return nil, fmt.Errorf("address %s: another source listens there with another certificate", address)
		}
		return l, l.add(path, h, ended)
	}
	socket, err := net.Listen("tcp", address)
	if err != nil {
		return nil, &connector.UnavailableError{Service: "http", Address: address, Err: err}
	}
	l := &listener{all: ls, address: address, tls: files, served: make(chan struct{}), paths: map[string]http.Handler{path: h}, ended: ended}
	l.server = &http.Server{
		Handler: l, Addr: socket.Addr().String(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute,
	}
	if files[0] != "" {
		pair, err := tls.LoadX509KeyPair(files[0], files[1])
		if err != nil {
			return nil, errors.Join(fmt.Errorf("option \"certificate\": %w", err), socket.Close())
		}
		socket = tls.NewListener(socket, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	}
	go func() {
		defer close(l.served)
		if err := l.server.Serve(socket); !errors.Is(err, http.ErrServerClosed) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.ended(err)
		}
	}()
	if _, port, err := net.SplitHostPort(address); err != nil || port != "0" { // with 0 each gets a port of its own
		ls.m[address] = l
	}
	return l, nil
}

// add puts a source behind a path.
func (l *listener) add(path string, h http.Handler, ended func(error)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paths[path] != nil {
		return fmt.Errorf("path %q of %s is another source's: two queries cannot share the requests of one source", path, l.address)
	}
	l.paths[path] = h
	before := l.ended
	l.ended = func(err error) { before(err); ended(err) }
	return nil
}

// handler is the source of a path. One whose path ends with a slash takes all below it that is not another one's.
func (l *listener) handler(path string) http.Handler {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.paths[path]; h != nil {
		return h
	}
	longest := ""
	for p := range l.paths {
		if strings.HasSuffix(p, "/") && strings.HasPrefix(path, p) && len(p) > len(longest) {
			longest = p
		}
	}
	return l.paths[longest]
}

// ServeHTTP hands a request to the source of its path.
func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := l.handler(r.URL.Path)
	if h == nil {
		http.NotFound(w, r)
		return
	}
	h.ServeHTTP(w, r)
}

// remove takes a source away; last says that it was the last one, and that the server may end.
func (l *listener) remove(path string) (last bool) {
	l.all.mu.Lock()
	defer l.all.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.paths, path)
	if len(l.paths) > 0 {
		return false
	}
	if l.all.m[l.address] == l {
		delete(l.all.m, l.address)
	}
	return true
}
