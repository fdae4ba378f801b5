internal import CMariaDB
internal import Glibc

/// The memory of a statement's parameters, which is wiped.
@safe struct MySQLParameters: ~Copyable {
    private let binds: UnsafeMutablePointer<MYSQL_BIND>
    private var memory: [UnsafeMutableRawBufferPointer]

    init(_ values: [MySQLValue]) {
        unsafe memory = []
        unsafe binds = .allocate(capacity: max(1, values.count))
        for (index, value) in values.enumerated() {
            var bind = unsafe MYSQL_BIND()
            switch value {
            case .null: unsafe bind.buffer_type = MYSQL_TYPE_NULL
            case .integer(var number):
                unsafe bind.buffer_type = MYSQL_TYPE_LONGLONG
                unsafe withUnsafeBytes(of: &number) { unsafe add($0, to: &bind) }
            case .decimal(let bytes):
                unsafe bind.buffer_type = MYSQL_TYPE_NEWDECIMAL
                unsafe bytes.withUnsafeBytes { unsafe add($0, to: &bind) }
            case .text(let bytes):
                unsafe bind.buffer_type = MYSQL_TYPE_STRING
                unsafe bytes.withUnsafeBytes { unsafe add($0, to: &bind) }
            case .blob(let bytes):
                unsafe bind.buffer_type = MYSQL_TYPE_BLOB
                unsafe bytes.withUnsafeBytes { unsafe add($0, to: &bind) }
            }
            unsafe (binds + index).initialize(to: bind)
        }
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer, to bind: inout MYSQL_BIND) {
        let copy = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(8, bytes.count),
            alignment: 8
        )
        unsafe copy.copyMemory(from: bytes)
        unsafe bind.buffer = copy.baseAddress
        unsafe bind.buffer_length = UInt(bytes.count)
        unsafe memory.append(copy)
    }

    /// False when the library refuses them.
    func bind(_ statement: UnsafeMutablePointer<MYSQL_STMT>) -> Bool {
        unsafe mysql_stmt_bind_param(statement, binds) == 0
    }

    deinit {
        for index in unsafe memory.indices {
            if let start = unsafe memory[index].baseAddress {
                unsafe explicit_bzero(start, memory[index].count)
            }
            unsafe memory[index].deallocate()
        }
        unsafe binds.deallocate()
    }
}

/// The memory of one row of a result.
@safe struct MySQLRowBuffer: ~Copyable {
    private let binds: UnsafeMutablePointer<MYSQL_BIND>
    private let lengths: UnsafeMutablePointer<UInt>
    private let nulls: UnsafeMutablePointer<my_bool>
    private let bytes: UnsafeMutablePointer<UInt8>
    private let count: Int

    init(columns: Int) {
        count = columns
        unsafe binds = .allocate(capacity: columns)
        unsafe lengths = .allocate(capacity: columns)
        unsafe nulls = .allocate(capacity: columns)
        unsafe bytes = .allocate(capacity: columns * MySQLLimits.shortValue)
        unsafe lengths.initialize(repeating: 0, count: columns)
        unsafe nulls.initialize(repeating: 0, count: columns)
        unsafe bytes.initialize(repeating: 0, count: columns * MySQLLimits.shortValue)
        for column in 0..<columns {
            var bind = unsafe MYSQL_BIND()
            unsafe bind.buffer_type = MYSQL_TYPE_STRING
            unsafe bind.buffer = UnsafeMutableRawPointer(bytes + column * MySQLLimits.shortValue)
            unsafe bind.buffer_length = UInt(MySQLLimits.shortValue)
            unsafe bind.length = lengths + column
            unsafe bind.is_null = nulls + column
            unsafe (binds + column).initialize(to: bind)
        }
    }

    /// False when the library refuses it.
    func bind(_ statement: UnsafeMutablePointer<MYSQL_STMT>) -> Bool {
        unsafe mysql_stmt_bind_result(statement, binds) == 0
    }

    /// Of all values of the row that was read last, as the server says.
    var byteCount: Int {
        (0..<count).reduce(0) { sum, column in
            let length = unsafe nulls[column] == 0 ? Int(clamping: lengths[column]) : 0
            return sum + min(length, SQLLimits.answerBytes)
        }
    }

    /// A value of the row that was read last; `nil` for NULL.
    func value(
        _ column: Int,
        of statement: UnsafeMutablePointer<MYSQL_STMT>
    ) -> [UInt8]? {
        guard unsafe nulls[column] == 0 else { return nil }
        let length = unsafe Int(lengths[column])
        guard length > MySQLLimits.shortValue else {
            let start = unsafe bytes + column * MySQLLimits.shortValue
            return unsafe Array(UnsafeBufferPointer(start: start, count: length))
        }
        return unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, used in
            var bind = unsafe MYSQL_BIND()
            unsafe bind.buffer_type = MYSQL_TYPE_STRING
            unsafe bind.buffer = UnsafeMutableRawPointer(buffer.baseAddress)
            unsafe bind.buffer_length = UInt(length)
            let code = unsafe mysql_stmt_fetch_column(statement, &bind, UInt32(column), 0)
            used = code == 0 ? length : 0
        }
    }

    deinit {
        unsafe explicit_bzero(bytes, count * MySQLLimits.shortValue)
        unsafe binds.deallocate()
        unsafe lengths.deallocate()
        unsafe nulls.deallocate()
        unsafe bytes.deallocate()
    }
}
